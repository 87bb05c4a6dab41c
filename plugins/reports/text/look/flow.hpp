// Text in lines of at most `width` terminal columns; 0 means no limit.
#pragma once
#include <vector>

#include "settings.hpp"

namespace text_report {

/// Words flow into lines; continuation lines are indented by `indent`. A word longer than a line
/// is cut.
std::vector<Text> flow(const Text& text, size_t width, size_t indent);

/// The same for items that are not split, with " · " between those on one line.
std::vector<Text> flow_items(const std::vector<Text>& items, size_t width, size_t indent);

// A text in several lines.

/// Broken at spaces if possible, else anywhere; at least one line. 0: no limit.
std::vector<Text> wrap(const Text& text, size_t width);

/// One line or several, by the column's `overflow`.
std::vector<Text> fitted(const Text& text, size_t width, Overflow overflow, bool no_wrap);

/// `text` aligned in `width` columns, without trailing spaces if aligned left.
Text aligned(const Text& text, size_t width, Justify justify);

}  // namespace text_report
