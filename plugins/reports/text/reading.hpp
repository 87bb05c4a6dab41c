// One figure of the table: a cell of the report, and how cells of one group come together.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "layout.hpp"

namespace text_report {

struct Reading {
  tmeter::Cell cell;
  bool partial = false;  // some operators inside have no rule: the figure is a lower bound
};

/// Combines cells by a metric's aggregation (sum, max, last); sums of counts stay exact. What
/// cannot be combined (a weighted mean without its weights) gives no figure, not a wrong one.
class Accumulator {
 public:
  explicit Accumulator(int32_t aggregation = TMETER_AGGREGATE_SUM) : aggregation_(aggregation) {}
  void add(const tmeter::Cell& cell);
  Reading reading() const;

 private:
  int32_t aggregation_;
  tmeter::Cell sum_;
  bool unknown_ = false;
  bool mixed_ = false;  // more than one figure under an aggregation that has no rule for it
};

/// As it is printed; `raw`: without scaling.
Figure figure_of(const Reading& reading, const tmeter::Metric& metric, bool raw);

/// Above a column; raw figures have their unit there.
std::string column_title(const tmeter::Metric& metric, bool raw);

/// The shortest text that reads back as the same number.
std::string plain_number(const tmeter::Cell& cell);

}  // namespace text_report
