#include "magnitudes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "kernels.hpp"

namespace pruning {

void Magnitudes::add(std::span<const float> x) {
  finite_ = finite_ && count_magnitudes(x.data(), x.size(), counts_.data());
}

void Magnitudes::merge(const Magnitudes& next) {
  finite_ = finite_ && next.finite_;
  for (size_t i = 0; i < kBins; ++i) counts_[i] += next.counts_[i];
}

uint64_t Magnitudes::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

/// The middle of the bin, or its only value. The first holds zeros and negligible values.
double Magnitudes::value_of(size_t bin) const {
  if (bin == 0) return 0;
  const auto bits = static_cast<uint32_t>(bin) << 16;
  return double{std::bit_cast<float>(exact_ ? bits : bits | 0x8000u)};
}

double Magnitudes::power() const {
  double sum = 0;
  for (size_t i = 0; i < kBins; ++i)
    sum += static_cast<double>(counts_[i]) * value_of(i) * value_of(i);
  return sum;
}

Curve Magnitudes::curve() const {
  Curve out{};
  const double all = power(), n = static_cast<double>(count());
  double covered = 0, lost = 0;
  size_t at = 0;
  for (size_t i = 0; i < kBins && at < kShares.size(); ++i) {
    const double here = static_cast<double>(counts_[i]), value = value_of(i);
    for (; at < kShares.size(); ++at) {
      // Rounds as torch.nn.utils.prune does.
      const double target = std::floor(kShares[at] * n + 0.5);
      if (here == 0 || covered + here < target) break;
      const double power_lost = lost + (target - covered) * value * value;
      out[at] = {kShares[at], all > 0 ? std::sqrt(std::min(power_lost / all, 1.0)) : 0, value};
    }
    covered += here;
    lost += here * value * value;
  }
  return out;
}

Point Magnitudes::within(double loss) const {
  const double all = power(), n = static_cast<double>(count()), allowed = loss * loss * all;
  double gone = 0, lost = 0;
  for (size_t i = 0; i < kBins; ++i) {
    const double here = static_cast<double>(counts_[i]), each = value_of(i) * value_of(i);
    if (here == 0) continue;
    if (lost + here * each > allowed) {
      gone += std::floor((allowed - lost) / each);
      return {n > 0 ? gone / n : 0, loss, value_of(i)};
    }
    gone += here;
    lost += here * each;
  }
  return {1, loss, INFINITY};
}

double loss_at(const Curve& curve, double share) {
  const auto after = std::find_if(curve.begin(), curve.end(),
                                  [&](const Point& p) { return p.share >= share - 1e-9; });
  return after == curve.end() ? 1 : after->loss;
}

double share_below(const Curve& curve, double threshold) {
  Point before{0, 0, 0};
  for (const auto& p : curve) {
    if (p.threshold >= threshold) {
      const double width = p.threshold - before.threshold;
      const double part = width > 0 ? (threshold - before.threshold) / width : 0;
      return before.share + part * (p.share - before.share);
    }
    before = p;
  }
  return before.share;  // lower bound
}

}  // namespace pruning
