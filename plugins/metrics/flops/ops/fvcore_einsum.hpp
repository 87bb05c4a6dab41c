#pragma once
#include "shapes.hpp"

namespace flops {

/// What fvcore's einsum_flop_jit says: numpy's figure for its optimal path, halved.
Count fvcore_einsum(const Node& n);

}  // namespace flops
