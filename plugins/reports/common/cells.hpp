// Cells of the report: their status, their sums, and their texts.
//
// A cell is one of: a number; zero by rule (the operator costs nothing under this metric); a lower
// bound, or a mean that leaves something out (Cell::partial); a number that rests on an assumption
// (Cell::assumed); unknown (no rule); unavailable (from this file or on this machine);
// part of the value of an enclosing module (Cell::in_module); not applicable. Every text keeps them
// apart.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <tmeter/cpp/vocabulary.hpp>

namespace reports {

using tmeter::Cell;
using tmeter::vocabulary::CellStatus;

/// The cell of a module; for the root, the total of the model.
Cell module_cell(const tmeter::Report& report, const tmeter::Metric& metric,
                 const tmeter::Module& module);

/// Combines cells by a metric's aggregation (sum, max, last), as the host's roll-ups do; sums of
/// counts stay exact. Cells that cannot be combined (a weighted mean without its weights) give an
/// empty cell.
class Accumulator {
 public:
  explicit Accumulator(int32_t aggregation = TMETER_AGGREGATE_SUM) : aggregation_(aggregation) {}
  void add(const Cell& cell);
  Cell result() const;

 private:
  int32_t aggregation_;
  Cell sum_;
  bool number_ = false;  // a number other than zero by rule
  bool unknown_ = false, unavailable_ = false;
  bool elsewhere_ = false;  // a cell is part of a module's value, which is added by itself
  bool mixed_ = false;      // several cells under an aggregation without a rule
};

/// The shortest text that reads back as the same number: "nan" and "inf", too; "0" without a
/// number.
std::string plain_number(const Cell& cell);

/// Whether partial values of the metric are lower bounds, as sums and maxima are.
bool bounds_from_below(const tmeter::Metric& metric);

/// The status of a cell; empty for plain numbers and where the metric does not apply. If several
/// apply, the first in this order: unknown, unavailable, in_module, not_finite, assumed,
/// lower_bound or partial, zero_by_rule.
std::optional<CellStatus> cell_status(const Cell& cell, const tmeter::Metric& metric);
/// Its word: "zero_by_rule".
std::optional<std::string_view> status_of(const Cell& cell, const tmeter::Metric& metric);

/// For people: "25.56 M", "≥4.09 G", "~4.09 G", "≈0.5" of a mean, "0", "0ʳ" by rule, "?", "n/a",
/// "↑" in a module's value, "–".
std::string shown(const Cell& cell, const tmeter::Metric& metric);

/// The same with every digit of a count: "25,557,032", "97.49 MiB".
std::string shown_in_full(const Cell& cell, const tmeter::Metric& metric);

/// Explains the signs of `shown`.
inline constexpr std::string_view kLegend =
    "0ʳ: zero by rule · ≥: a lower bound, because something inside has no value · ~: rests on an "
    "assumption that a warning names · ?: unknown, no rule for it · n/a: not available from this "
    "file or machine · ↑: included in the value of an enclosing module, which a plugin gives as a "
    "whole · –: does not apply";

}  // namespace reports
