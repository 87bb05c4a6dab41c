// The configuration's templates, expanded for rows of the tree.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "look/look.hpp"
#include "tree.hpp"

namespace text_report {

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

}  // namespace text_report
