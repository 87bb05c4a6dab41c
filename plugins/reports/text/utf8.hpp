// Text on a terminal: what names from a model file look like, how wide they are, how to cut them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace text_report {

/// Safe to print: invalid UTF-8, control characters (a name may hold an escape sequence) and
/// direction overrides become U+FFFD; tabs and line ends become spaces.
std::string printable(std::string_view text);

/// Columns of a terminal that `text` (printable) takes: 2 for wide East Asian characters and emoji,
/// 0 for combining marks.
size_t display_width(std::string_view text);

/// At most `width` columns; what is cut is replaced by one "…" at the end (or at the start).
std::string cut_end(std::string_view text, size_t width);
std::string cut_start(std::string_view text, size_t width);

}  // namespace text_report
