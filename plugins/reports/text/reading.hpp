// One figure of the table.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "../common/figures.hpp"
#include "layout.hpp"

namespace text_report {

using reports::Accumulator;
using reports::plain_number;
using tmeter::Cell;

/// As it is printed; `raw`: without scaling.
Figure figure_of(const Cell& cell, const tmeter::Metric& metric, bool raw);

/// Above a column; raw figures have their unit there.
std::string column_title(const tmeter::Metric& metric, bool raw);

}  // namespace text_report
