// The tree as lines: labels, guides, and boxes around repeats.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "look/look.hpp"
#include "tree.hpp"

namespace text_report {

// The configuration's templates, expanded for rows of the tree.

class Labels {
 public:
  /// Throws for unknown placeholders anywhere in the configuration. `tree_depth`: levels below the
  /// root.
  Labels(const tmeter::Report& report, const Columns& columns, const Look& look, const View& view,
         size_t tree_depth);

  const LevelLook& level(size_t depth) const {
    return levels_[std::min(depth, levels_.size() - 1)];
  }
  /// The label of `branch` in the tree.
  Text of(const Branch& branch, size_t depth) const;
  /// The title of a run; likewise subtitle and footer.
  Text title(const Branch& run, size_t depth) const { return repeat(repeat_.title, run, depth); }
  Text subtitle(const Branch& run, size_t depth) const {
    return repeat(repeat_.subtitle, run, depth);
  }
  Text footer(const Branch& run, size_t depth) const { return repeat(repeat_.footer, run, depth); }
  /// The title and caption of the table; `root`: the model.
  Text over_table(const Branch& root) const;
  Text under_table(const Branch& root) const;

 private:
  void resolve(Written& written) const;
  Text repeat(const Written& text, const Branch& run, size_t depth) const;
  Text expanded(const Written& text, const Branch& branch, size_t depth, Style base,
                bool highlight) const;
  std::string value(const Template::Part& part, const Branch& branch, size_t depth) const;
  std::string metric(size_t index, const Branch& branch) const;

  const tmeter::Report& report_;
  const Columns& columns_;
  const Look& look_;
  bool raw_;
  std::vector<LevelLook> levels_;
  RepeatLook repeat_;
  Written title_, caption_;
};

/// Metrics that templates use and `shown` lacks.
std::vector<tmeter::Metric> metrics_of_labels(const tmeter::Report& report, const Look& look,
                                              const std::vector<tmeter::Metric>& shown);

struct TreeLine {
  const Branch* branch;      // branch of this row; null for a part of a box
  Text name;                 // guides and label
  std::vector<Text> more{};  // further lines of the label
  Text above{};              // guides of a line between this row and the previous one
};

/// Pre-order. The lines point into `root`; their number does not depend on the width. None is wider
/// than `limit` (0: no limit) if guides and boxes fit; `fill`: boxes may grow to it.
std::vector<TreeLine> draw_tree(const Branch& root, const Labels& labels, const Look& look,
                                size_t limit, bool fill = false);

/// Lines in the frame of a repeat. `title` and `subtitle` may be empty.
std::vector<Text> framed(const std::vector<Text>& lines, const RepeatLook& look, const Theme& theme,
                         const Text& title, const Text& subtitle);

}  // namespace text_report
