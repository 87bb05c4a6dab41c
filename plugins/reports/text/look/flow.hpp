// Text in lines of at most `width` terminal columns; 0 means no limit.
#pragma once
#include <vector>

#include "settings.hpp"

namespace text_report {

/// Words flow into lines; continuation lines are indented by `indent`. A word longer than a line
/// is cut.
std::vector<Text> flow(const Text& text, size_t width, size_t indent);

/// The same for items that must not be torn apart, with " · " between those on one line.
std::vector<Text> flow_items(const std::vector<Text>& items, size_t width, size_t indent);

// A text in several lines.

/// Broken at spaces where that is possible, else anywhere; one line at least. 0: no limit.
std::vector<Text> wrap(const Text& text, size_t width);

/// As the column's `overflow` says: one line, or several.
std::vector<Text> fitted(const Text& text, size_t width, Overflow overflow, bool no_wrap);

/// `text` among `width` columns, without spaces after it where the left is the side.
Text aligned(const Text& text, size_t width, Justify justify);

}  // namespace text_report
