// Extracts the report of one module from that of the whole, for measurements and saved reports.
#pragma once
#include "core/ir/part.hpp"
#include "core/report/report.hpp"

namespace tmeter::core {

/// Keeps the part's share of a report of the whole: its rows, findings, histograms, curves and
/// formulas. Totals are the values of the module; metrics that only the model has become
/// unavailable. Bounds, a sweep and findings about the whole are dropped, the latter two with a
/// warning. Afterwards `report` describes `part.graph`, which has to outlive it.
void restrict_to_part(Report& report, const GraphPart& part);

}  // namespace tmeter::core
