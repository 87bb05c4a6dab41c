// The propagator "LibTorch": a recorded graph for inputs of other sizes.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::resize {

/// Throws TMETER_CANNOT_RUN naming the operator that refuses the sizes, and TMETER_BAD_MODEL if the
/// inputs do not fit the weights.
void resize(const Graph& recorded, GraphBuilder& builder, Call& call);

}  // namespace tmeter::resize
