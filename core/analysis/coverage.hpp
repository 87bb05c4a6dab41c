// Coverage: how many operators a metric counts, and which it leaves out.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// The coverage of the first metric with TMETER_METRIC_COVERAGE; empty without one.
Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph);

/// Operators missing from totals that are lower bounds, unless the coverage names the same ones:
/// "other_flops leaves out aten::foo ×3, for which it has no figure".
std::vector<std::string> omissions(const std::vector<Column>& columns, const Graph& graph,
                                   const Coverage& coverage);

}  // namespace tmeter::core
