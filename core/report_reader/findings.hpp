// What a report says in words and curves: findings, assertions, histograms, how it was made.
#pragma once
#include "core/report/report.hpp"
#include "core/report_reader/figures.hpp"

namespace tmeter::core::report_reader {

/// The graph and the figures are there already.
void read_findings(Document& document, const Figures& figures, Report& report);

}  // namespace tmeter::core::report_reader
