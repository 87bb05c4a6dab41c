// Findings, assertions, histograms and curves of a saved report, and how it was made.
#pragma once
#include "core/report/report.hpp"
#include "core/report_reader/figures.hpp"

namespace tmeter::core::report_reader {

/// The graph and the values must have been read before.
void read_findings(Document& document, const Figures& figures, Report& report);

}  // namespace tmeter::core::report_reader
