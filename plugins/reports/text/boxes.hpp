// What tables and repeats are framed with.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace text_report {

/// One line of a box, as four characters: left, fill, between columns, right.
struct BoxLine {
  std::string_view left, fill, divider, right;
};

struct Box {
  std::string_view name;
  // Lines with columns are head, mid and foot; the others are between them.
  BoxLine top, head, head_row, mid, row, foot_row, foot, bottom;
};

/// By its name, in any case, words apart by '-' or '_'; null: there is none ("none" has none, too).
const Box* find_box(std::string_view name);

std::vector<std::string_view> box_names();

}  // namespace text_report
