// Writes the replayed graph: the recorded one with other sizes.
#pragma once
#include "operators/graph_values.hpp"

namespace tmeter::torch_backend {

void emit(const Graph& recorded, const Known& known, GraphBuilder& builder);

}  // namespace tmeter::torch_backend
