// A comparison as its writers show it: values before and after, and the modules that differ.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/comparison.hpp>
#include <vector>

#include "../common/cells.hpp"

namespace diff_report {

using reports::Cell;

/// A metric that both models have.
struct Column {
  tmeter::Metric before, after;
};

/// A value before and after.
struct Change {
  Cell before, after;
  bool differs() const;
  /// After minus before, if both are known; a count if both are counts.
  std::optional<Cell> difference() const;
  /// Relative to the value before; empty if that is 0 and the value after is not.
  std::optional<double> relative() const;
};

/// "+1.20 M", "−404.62 M", "0"; "≈" before partial values; "–" without a difference.
std::string shown_difference(const Change& change, const tmeter::Metric& metric);
/// The same for modules; the value after, if the metric does not apply before ("sqnr").
std::string shown_in_row(const Change& change, const tmeter::Metric& metric);
/// "+2.3 %", "−50.0 %"; empty: no change is known.
std::string shown_relative(const Change& change);

struct Row {
  tmeter_pair pair;
  std::optional<tmeter::Module> before, after;
  std::vector<Change> changes;  // one per column
  /// '+' added, '-' removed, '>' renamed, '~' redefined, ' ' only values.
  char sign() const;
  /// "added", "removed", "renamed", "redefined"; empty: only values differ, or nothing.
  std::string_view kind() const;
  /// The path in the model that has it; both paths of a renamed module.
  std::string path() const;
  std::string type() const;
  /// " (×2)" for a module that is called twice, " (×2 → ×3)" if the numbers of calls differ.
  std::string calls() const;
};

struct Counts {
  size_t all = 0, same = 0, changed = 0, added = 0, removed = 0, renamed = 0;
};

class Changes {
 public:
  /// Throws tmeter::Error(TMETER_BAD_USAGE) unless it compares something.
  explicit Changes(const tmeter::Report& report);

  const tmeter::ComparisonView& view() const { return view_; }
  const tmeter::Report& before() const { return before_; }
  const tmeter::Report& after() const { return after_; }
  /// The metrics of --columns, else metrics that are not details and have a total.
  const std::vector<Column>& columns() const { return columns_; }
  Change total(const Column& column) const;
  const Counts& counts() const { return counts_; }
  Row row(const tmeter_pair& pair) const;

  /// Pairs that differ, down to --depth, or else to the deepest level with at most `most` of them.
  std::vector<tmeter_pair> differing(size_t most) const;
  size_t differing_count() const { return counts_.all - counts_.same; }

 private:
  tmeter::ComparisonView view_;
  tmeter::Report before_, after_;
  std::vector<Column> columns_;
  Counts counts_;
};

/// "ResNet  before.pt2 (482.10 KiB)"
std::string title_of(const tmeter::Report& report);
/// "12 of 151 modules differ: 1 added, 2 removed, 1 renamed"
std::string counts_text(const Counts& counts);
/// "4,089,184,256", "+2.3 %": the value that an assertion is about.
std::string assertion_value(const Changes& changes, const tmeter::AssertionView& assertion);

// The writers of a comparison.

void write_text(const Changes& changes, tmeter::Output& out, bool ascii);
void write_json(const Changes& changes, tmeter::Output& out);
void write_markdown(const Changes& changes, tmeter::Output& out);
void write_html(const Changes& changes, tmeter::Output& out);
void write_github(const Changes& changes, tmeter::Output& out);
void write_junit(const Changes& changes, tmeter::Output& out);

}  // namespace diff_report
