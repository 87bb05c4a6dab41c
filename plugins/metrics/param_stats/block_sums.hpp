// The sums over a block of numbers that moments, norms and extremes follow from, by SIMD with the
// best instructions the machine has.
#pragma once
#include <cstddef>

#include "moments.hpp"

namespace param_stats {

struct BlockSums {
  PowerSums powers;  // about the center given
  double l1 = 0, min = 0, max = 0;
  uint64_t zeros = 0;
};

/// All in double. With a NaN or infinity in the block powers.d1 is not finite, and the rest means
/// nothing. n > 0.
BlockSums block_sums(const float* x, size_t n, double center);
BlockSums block_sums(const double* x, size_t n, double center);

}  // namespace param_stats
