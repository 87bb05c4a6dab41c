// Running text into lines of at most `width` terminal columns; 0 means no limit.
#pragma once
#include <vector>

#include "style.hpp"

namespace text_report {

/// Words flow into lines; continuation lines are indented by `indent`. A word longer than a line
/// is cut.
std::vector<Text> flow(const Text& text, size_t width, size_t indent);

/// The same for items that must not be torn apart, with " · " between those on one line.
std::vector<Text> flow_items(const std::vector<Text>& items, size_t width, size_t indent);

}  // namespace text_report
