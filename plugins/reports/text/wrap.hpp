// A text in several lines.
#pragma once
#include <vector>

#include "look.hpp"

namespace text_report {

/// Broken at spaces where that is possible, else anywhere; one line at least. 0: no limit.
std::vector<Text> wrap(const Text& text, size_t width);

/// As the column's `overflow` says: one line, or several.
std::vector<Text> fitted(const Text& text, size_t width, Overflow overflow, bool no_wrap);

/// `text` among `width` columns, without spaces after it where the left is the side.
Text aligned(const Text& text, size_t width, Justify justify);

}  // namespace text_report
