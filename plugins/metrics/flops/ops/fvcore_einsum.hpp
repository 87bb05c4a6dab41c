#pragma once
#include "shapes.hpp"

namespace flops {

/// The value of fvcore's einsum_flop_jit: half of numpy's count for its optimal path.
Count fvcore_einsum(const Node& n);

}  // namespace flops
