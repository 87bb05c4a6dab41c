// How much of the model the metric that states coverage has counted.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Of the first metric that states coverage; without one, nothing is said.
Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph);

}  // namespace tmeter::core
