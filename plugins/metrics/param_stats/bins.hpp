// Bins of equal width from the smallest to the largest value, with the edges of numpy.histogram.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace param_stats {

constexpr size_t kBins = 256;  // for the entropy
/// For the histogram in reports. Every edge is one of the 256: dividing by a power of two is exact.
constexpr size_t kShownBins = 64;

class EqualBins {
 public:
  EqualBins() = default;
  EqualBins(double min, double max) : min_(min) {
    const double step = (max - min) / kBins;
    for (size_t i = 0; i < kBins; ++i) edges_[i] = static_cast<double>(i) * step + min;
    edges_[kBins] = max;
    usable_ = std::isfinite(max - min);
    // A first estimate; 0 if the range is too small for a factor.
    if (const double scale = kBins / (max - min); std::isfinite(scale)) scale_ = scale;
    for (size_t i = 0; i < kBins; ++i) usable_ = usable_ && edges_[i] < edges_[i + 1];
  }
  /// False if the values are too close together, or too far apart, for edges between them.
  bool usable() const { return usable_; }
  const std::array<double, kBins + 1>& edges() const { return edges_; }

  /// The i with edges[i] <= x < edges[i + 1]; the last bin includes its end. min <= x <= max.
  size_t index(double x) const {
    const double guess = (x - min_) * scale_;
    size_t i = guess > 0 ? std::min(static_cast<size_t>(guess), kBins - 1) : 0;
    while (i > 0 && x < edges_[i]) --i;
    while (i + 1 < kBins && x >= edges_[i + 1]) ++i;
    return i;
  }

 private:
  double min_ = 0, scale_ = 0;
  bool usable_ = false;
  std::array<double, kBins + 1> edges_{};
};

/// Bits per outcome: -sum p log2 p.
template <class Counts>
double entropy_bits(const Counts& counts) {
  double total = 0, sum = 0;
  for (const auto c : counts) total += static_cast<double>(c);
  if (total == 0) return 0;
  for (const auto c : counts)
    if (c) sum -= static_cast<double>(c) * std::log2(static_cast<double>(c) / total);
  return std::fabs(sum / total);
}

}  // namespace param_stats
