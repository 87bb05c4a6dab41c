// Roll-ups: from nodes to module calls, modules and the model; from tensors to modules and the
// model. Follows each metric's aggregation (sdk abi/metric.h). The weights of a mean must have been
// rolled up before.
#pragma once
#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Node metrics. Cells of module calls that module handlers gave are kept and stand for everything
/// inside the call. Throws Error(kModel) when an integer sum exceeds 63 bits.
void roll_up_nodes(const Graph& graph, const Results& results, Column& column);

/// Tensor metrics: every module and the model count each distinct (canonical) tensor inside once.
void roll_up_tensors(const Graph& graph, const Results& results, Column& column);

}  // namespace tmeter::core
