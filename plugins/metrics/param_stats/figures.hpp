// What param-stats works out for one tensor.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "bins.hpp"
#include "moments.hpp"

namespace param_stats {

inline constexpr std::array<double, 7> kQuantiles{0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99};

/// What several tensors can be merged into exactly; of the finite numbers, but for nan, inf and
/// bits.
struct Pool {
  Moments moments;
  uint64_t nan = 0, inf = 0, zeros = 0, near_zeros = 0;
  double min = 0, max = 0, l1 = 0;
  double raw_bits = 0, coded_bits = 0;
  std::optional<double> spectral_norm;  // the largest

  void merge(const Pool& o);
  uint64_t elements() const { return moments.n + nan + inf; }
  double largest_magnitude() const { return std::fmax(std::fabs(min), std::fabs(max)); }
};

struct Figures : Pool {
  std::array<double, kQuantiles.size()> quantiles{};
  bool binned = false;
  double entropy = 0;
  std::vector<double> edges;     // of the histogram shown; empty when there is none
  std::vector<uint64_t> counts;  // in it
  std::optional<double> effective_rank;
  bool rank_left_out = false;  // there is one, but it was not worked out
  bool fits_half = false;      // every number is a float16 (float32 tensors)
  bool fits_bfloat16 = false;  // every number is a bfloat16 (float32 tensors)
  bool fits_single = false;    // every number is a float32 (float64 tensors)

  bool constant() const { return moments.n > 0 && min == max; }
};

/// Numbers in rising order with how often each occurs.
struct Counted {
  double value;
  uint64_t count;
};

/// Everything but bits, spectrum and fits_…, from all distinct finite numbers of a tensor.
/// `threshold` in units of the root mean square: what is smaller counts as near zero.
void summarise(std::span<const Counted> numbers, double threshold, Figures& out);

/// Where a quantile of n numbers lies: between the i-th and the next, 0-based (NumPy's "linear").
struct Place {
  uint64_t rank;
  double fraction;
};
Place place_of(double quantile, uint64_t n);
double between(double lower, double upper, double fraction);

/// Entropy and the histogram shown, from counts per bin.
void use_bins(const EqualBins& bins, const std::array<uint64_t, kBins>& counts, Figures& out);

}  // namespace param_stats
