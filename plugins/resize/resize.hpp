// The propagator "libtorch": a recorded graph for inputs of other sizes.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::torch_backend {

/// Throws TMETER_CANNOT_RUN naming the operator that refuses the sizes, and TMETER_BAD_MODEL when
/// the inputs do not fit the weights.
void propagate(const Graph& recorded, GraphBuilder& builder, Call& call);

}  // namespace tmeter::torch_backend
