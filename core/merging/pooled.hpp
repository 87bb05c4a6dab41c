// Statistics of several tensors, computed from the statistics of each. Gives modules and the model
// the values that the plugin param-stats would give them.
#pragma once
#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Whether values of modules in this column can be computed from those of tensors.
bool is_poolable(const Column& column);

/// Fills the modules' and the model's cells of all poolable columns, over parameters, each distinct
/// tensor once, as the plugin does it (plugins/metrics/param_stats/roll_up.cpp).
void pool_statistics(const Graph& graph, Results& results);

}  // namespace tmeter::core
