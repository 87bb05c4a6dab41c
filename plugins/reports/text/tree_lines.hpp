// The tree as lines: guides, labels, and boxes around repeats.
#pragma once
#include <vector>

#include "labels.hpp"

namespace text_report {

struct TreeLine {
  const Branch* branch;      // of this row; null for a part of a box
  Text name;                 // guides and label
  std::vector<Text> more{};  // further lines of the label
  Text above{};              // guides of a line between this one and the one before
};

/// Pre-order. The lines point into `root`; their number does not depend on the width. None is wider
/// than `limit` (0: no limit) if guides and boxes fit; `fill`: boxes may grow to it.
std::vector<TreeLine> draw_tree(const Branch& root, const Labels& labels, const Look& look,
                                size_t limit, bool fill = false);

/// Lines in the frame of a repeat. `title` and `subtitle` may be empty.
std::vector<Text> framed(const std::vector<Text>& lines, const RepeatLook& look, const Theme& theme,
                         const Text& title, const Text& subtitle);

}  // namespace text_report
