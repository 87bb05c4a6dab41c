// How much of the model the metric that states coverage has counted.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Of the first metric that states coverage; without one, nothing is said.
Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph);

/// What metrics leave out of totals that are lower bounds, where the coverage does not tell it already:
/// "other_flops leaves out aten::foo ×3, for which it has no figure".
std::vector<std::string> omissions(const std::vector<Column>& columns, const Graph& graph,
                                   const Coverage& coverage);

}  // namespace tmeter::core
