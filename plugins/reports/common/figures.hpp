// A figure: a cell of the report, what it may lack, and how it is written.
//
// Nine things are never mixed up: a number, zero by rule (the operator costs nothing under this
// metric), a lower bound or a mean that leaves something out (the host says so: Cell::partial),
// one that rests on an assumption about data (Cell::assumed), unknown (no rule), unavailable (this machine or file cannot tell), part of the figure of a module
// around it (a plugin gives that as a whole: Cell::in_module), and not applicable.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <tmeter/cpp/vocabulary.hpp>

namespace reports {

using tmeter::Cell;
using tmeter::vocabulary::CellStatus;

/// The figure of a module; of the root, that of the model.
Cell module_figure(const tmeter::Report& report, const tmeter::Metric& metric,
                   const tmeter::Module& module);

/// Combines cells by a metric's aggregation (sum, max, last), as the host's roll-ups do; sums of
/// counts stay exact. What cannot be combined (a weighted mean without its weights) gives no
/// figure, not a wrong one.
class Accumulator {
 public:
  explicit Accumulator(int32_t aggregation = TMETER_AGGREGATE_SUM) : aggregation_(aggregation) {}
  void add(const Cell& cell);
  Cell result() const;

 private:
  int32_t aggregation_;
  Cell sum_;
  bool number_ = false;  // one that is no zero by rule
  bool unknown_ = false, unavailable_ = false;
  bool elsewhere_ = false;  // something is part of a module's figure, which is added by itself
  bool mixed_ = false;      // more than one figure under an aggregation that has no rule for it
};

/// The shortest text that reads back as the same number; "0" when it is none, "nan", "inf".
std::string plain_number(const Cell& cell);

/// A partial figure of the metric is a lower bound: so it is of sums and of what is largest.
bool bounds_from_below(const tmeter::Metric& metric);

/// What a cell is besides a plain number; nothing for plain numbers and where the metric does not
/// apply. Of what several things hold, the first in this order: unknown, unavailable, in_module,
/// not_finite, assumed, lower_bound or partial, zero_by_rule.
std::optional<CellStatus> cell_status(const Cell& cell, const tmeter::Metric& metric);
/// Its word: "zero_by_rule".
std::optional<std::string_view> status_of(const Cell& cell, const tmeter::Metric& metric);

/// As people read it: "25.56 M", "≥4.09 G", "~4.09 G", "≈0.5" of a mean, "0", "0ʳ" by rule, "?", "n/a", "↑" in
/// a module's figure, "–".
std::string shown(const Cell& cell, const tmeter::Metric& metric);

/// The same with every digit of a count: "25,557,032", "97.49 MiB".
std::string shown_in_full(const Cell& cell, const tmeter::Metric& metric);

/// Says what the signs in `shown` mean.
inline constexpr std::string_view kLegend =
    "0ʳ: zero by rule · ≥: a lower bound, as something inside has no figure · ~: rests on an "
    "assumption about data, which a warning names · ?: unknown, no rule "
    "for it · n/a: not available from this file or machine · ↑: in the figure of a module around "
    "it, which a "
    "plugin gives as a whole · –: does not apply";

}  // namespace reports
