// The tree as lines: guides, labels, boxes around what repeats.
#pragma once
#include <vector>

#include "labels.hpp"

namespace text_report {

struct TreeLine {
  const Branch* branch;      // whose figures stand beside it; null: a part of a box
  Text name;                 // guides and label
  std::vector<Text> more{};  // further lines of the label
  Text above{};              // guides of a line between this one and the one before
};

/// Pre-order. The lines point into `root`; there are as many whatever the width. None is wider than
/// `limit` (0: as wide as they are) as long as there is room for guides and boxes; `fill`: boxes
/// may grow to it.
std::vector<TreeLine> draw_tree(const Branch& root, const Labels& labels, const Look& look,
                                size_t limit, bool fill = false);

/// Lines in a frame as one repeat has it. `title` and `subtitle` may be empty.
std::vector<Text> framed(const std::vector<Text>& lines, const RepeatLook& look, const Theme& theme,
                         const Text& title, const Text& subtitle);

}  // namespace text_report
