// A figure: a cell of the report, what it may lack, and how it is written.
//
// Six things are never mixed up: a number, zero by rule (the operator costs nothing under this
// metric), a lower bound (something inside has no figure), unknown (no rule), unavailable (this
// machine or file cannot tell), and not applicable.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>

namespace reports {

struct Reading {
  tmeter::Cell cell;
  bool partial = false;  // something inside has no figure: it is a lower bound
};

/// Combines cells by a metric's aggregation (sum, max, last); sums of counts stay exact. What
/// cannot be combined (a weighted mean without its weights) gives no figure, not a wrong one.
class Accumulator {
 public:
  explicit Accumulator(int32_t aggregation = TMETER_AGGREGATE_SUM) : aggregation_(aggregation) {}
  void add(const tmeter::Cell& cell);
  void add(const Reading& reading);
  Reading reading() const;

 private:
  int32_t aggregation_;
  tmeter::Cell sum_;
  bool unknown_ = false;
  bool mixed_ = false;  // more than one figure under an aggregation that has no rule for it
};

/// The shortest text that reads back as the same number; "0" when it is none, "nan", "inf".
std::string plain_number(const tmeter::Cell& cell);

/// What a figure is besides a plain number: "zero_by_rule", "unknown", "unavailable",
/// "not_finite", "lower_bound"; nothing for plain numbers and where none applies.
std::optional<std::string_view> status_of(const Reading& reading);

/// As people read it: "25.56 M", "≥4.09 G", "0", "0ʳ" by rule, "?", "n/a", "–".
std::string shown(const Reading& reading, const tmeter::Metric& metric);

/// The same with every digit of a count: "25,557,032", "97.49 MiB".
std::string shown_in_full(const Reading& reading, const tmeter::Metric& metric);

/// Says what the signs in `shown` mean.
inline constexpr std::string_view kLegend =
    "0ʳ: zero by rule · ≥: a lower bound, as something inside has no figure · ?: unknown, no rule "
    "for it · n/a: not available from this file or machine · –: does not apply";

}  // namespace reports
