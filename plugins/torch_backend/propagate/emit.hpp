// Writes the replayed graph: the recorded one with other sizes.
#pragma once
#include "propagate/known.hpp"

namespace tmeter::torch_backend {

void emit(const Graph& recorded, const Known& known, GraphBuilder& builder);

}  // namespace tmeter::torch_backend
