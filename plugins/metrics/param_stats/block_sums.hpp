// The sums over a block of numbers that moments, norms and extremes follow from, by SIMD with the
// best instructions the machine has.
#pragma once
#include <algorithm>
#include <cstddef>

#include "moments.hpp"

namespace param_stats {

struct BlockSums {
  PowerSums powers;  // about the center given
  double l1 = 0, min = 0, max = 0;
  uint64_t zeros = 0;
  uint32_t patterns = ~0u;  // the patterns of float32 as far as they are known, by or

  /// One number more.
  void add(double x, double center) {
    const double d = x - center;
    powers.d1 += d;
    powers.d2 += d * d;
    powers.d3 += d * d * d;
    powers.d4 += (d * d) * (d * d);
    l1 += std::fabs(x);
    zeros += x == 0;
    min = std::min(min, x);
    max = std::max(max, x);
  }
};

/// All in double. With a NaN or infinity in the block powers.d1 is not finite, and the rest means
/// nothing. n > 0.
BlockSums block_sums(const float* x, size_t n, double center);
BlockSums block_sums(const double* x, size_t n, double center);

}  // namespace param_stats
