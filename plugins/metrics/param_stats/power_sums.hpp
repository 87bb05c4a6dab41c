// The sums over a block of values that give moments, norms and extremes, by SIMD with the best
// instructions of the processor.
#pragma once
#include <algorithm>
#include <cstddef>

#include "moments.hpp"

namespace param_stats {

struct BlockSums {
  PowerSums powers;  // about the center given
  double l1 = 0, min = 0, max = 0;
  uint64_t zeros = 0;

  /// One value more.
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

/// All in double; n > 0. If the block has a NaN or infinity, powers.d1 is not finite and the rest
/// means nothing.
BlockSums block_sums(const float* x, size_t n, double center);
BlockSums block_sums(const double* x, size_t n, double center);

}  // namespace param_stats
