// Text on a terminal: how wide it is, and how to cut it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "plugins/common/utf8.hpp"

namespace text_report {

using plugins::printable;

/// Columns of a terminal that `text` (printable) takes: 2 for wide East Asian characters and emoji,
/// 0 for combining marks.
size_t display_width(std::string_view text);

/// As many whole characters as fit into `width` columns.
std::string_view first_columns(std::string_view text, size_t width);

/// At most `width` columns; what is cut is replaced by one "…" at the end (or at the start).
std::string cut_end(std::string_view text, size_t width);
std::string cut_start(std::string_view text, size_t width);

}  // namespace text_report
