// Writes the replayed graph: the recorded one with other sizes.
#pragma once
#include "known.hpp"

namespace tmeter::resize {

void emit(const Graph& recorded, const Known& known, GraphBuilder& builder);

}  // namespace tmeter::resize
