// The share of a tensor's L2 norm in its smallest weights: a histogram of magnitudes by the upper
// bits of their float32 pattern (8 of the exponent, 7 of the mantissa), so that it can be summed
// over tensors. bfloat16 values are exact; others are within 0.8 % of their bin, and sums
// over bins within far less.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace pruning {

/// Shares of the weights, the smallest first, for which the loss is reported.
inline constexpr std::array<double, 11> kShares{0.1, 0.2, 0.3, 0.4,  0.5, 0.6,
                                                0.7, 0.8, 0.9, 0.95, 0.99};

struct Point {
  double share;      // of pruned weights
  double loss;       // ‖removed‖ / ‖all‖
  double threshold;  // the smallest magnitude that stays
};
using Curve = std::array<Point, kShares.size()>;

class Magnitudes {
 public:
  /// `exact`: elements have at most 7 bits of mantissa.
  explicit Magnitudes(bool exact) : exact_(exact), counts_(kBins) {}

  void add(std::span<const float> x);
  void merge(const Magnitudes& next);

  bool finite() const { return finite_; }
  uint64_t count() const;
  /// Σ x²
  double power() const;
  /// Empty power: all losses 0.
  Curve curve() const;
  /// The largest share that can be pruned with a loss of at most `loss`.
  Point within(double loss) const;

 private:
  static constexpr size_t kBins = 0x7f80;  // up to infinity
  double value_of(size_t bin) const;

  bool exact_, finite_ = true;
  std::vector<uint64_t> counts_;
};

/// The loss of pruning `share` of the weights, interpolated in a curve.
double loss_at(const Curve& curve, double share);
/// The share of weights below `threshold`, between the points of a curve.
double share_below(const Curve& curve, double threshold);

}  // namespace pruning
