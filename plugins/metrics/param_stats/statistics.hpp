// The statistics of one tensor, and those of several tensors taken together.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bins.hpp"
#include "moments.hpp"

namespace param_stats {

inline constexpr std::array<double, 7> kQuantiles{0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99};

/// Statistics that merge exactly. All except nan, inf and bits cover finite values only.
struct PooledStatistics {
  Moments moments;
  uint64_t nan = 0, inf = 0, zeros = 0, near_zeros = 0;
  double min = 0, max = 0, l1 = 0;
  bool has_near_zeros = true;
  double raw_bits = 0, coded_bits = 0;  // NaN: decoded elements, whose stored bytes are unknown

  void merge(const PooledStatistics& o);
  uint64_t elements() const { return moments.n + nan + inf; }
  double largest_magnitude() const { return std::fmax(std::fabs(min), std::fabs(max)); }
};

struct Statistics : PooledStatistics {
  std::array<double, kQuantiles.size()> quantiles{};
  bool binned = false;
  double entropy = 0;
  std::vector<double> edges;     // edges of the reported histogram; empty if there is none
  std::vector<uint64_t> counts;  // counts of its bins
  bool fits_half = false;        // every value is a float16 (float32 tensors)
  bool fits_bfloat16 = false;    // every value is a bfloat16 (float32 tensors)
  bool fits_single = false;      // every value is a float32 (float64 tensors)

  /// Clears the values that only a second pass selects.
  void leave_selected() {
    has_near_zeros = false;
    quantiles.fill(std::numeric_limits<double>::quiet_NaN());
  }
  bool constant() const { return moments.n > 0 && min == max; }
};

/// A finite value and how often it occurs.
struct ValueCount {
  double value;
  uint64_t count;
};

/// Fills everything but bits and fits_…, from all distinct finite values in rising order.
/// A value counts as near zero up to `threshold` times the root mean square.
void summarise(std::span<const ValueCount> values, double threshold, Statistics& out);

/// A quantile of n values is between the value of this 0-based rank and the next (NumPy's
/// "linear").
struct QuantilePlace {
  uint64_t rank;
  double fraction;
};
QuantilePlace place_of(double quantile, uint64_t n);
double between(double lower, double upper, double fraction);

/// Fills the entropy and the histogram of the report.
void use_bins(const EqualBins& bins, const std::array<uint64_t, kBins>& counts, Statistics& out);

// The share of the cache lines that the rows of a matrix use.

inline constexpr int64_t kCacheLine = 64;  // bytes, of x86-64 and most ARM cores

/// Bytes of a row over the bytes of the cache lines it touches, on average over `rows` rows of
/// `row_bytes` that begin at `begin` and are `pitch` bytes apart. 1: no line is shared.
double cache_line_use(int64_t begin, int64_t row_bytes, int64_t pitch, int64_t rows);

}  // namespace param_stats
