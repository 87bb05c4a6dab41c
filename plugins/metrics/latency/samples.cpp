#include "samples.hpp"

#include <algorithm>
#include <cmath>

namespace latency {

void Samples::sort() const {
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
}

double Samples::quantile(double q) const {
  if (empty()) return 0;
  sort();
  const double at = q * static_cast<double>(count() - 1);
  const auto below = static_cast<size_t>(at);
  const auto above = std::min(below + 1, count() - 1);
  return values_[below] + (at - static_cast<double>(below)) * (values_[above] - values_[below]);
}

Interval Samples::of_median() const {
  if (empty()) return {};
  sort();
  const auto n = static_cast<double>(count());
  const double half = 1.96 * std::sqrt(n) / 2;
  const auto rank = [&](double r) {  // counted from 1
    return static_cast<size_t>(std::clamp(r, 1.0, n)) - 1;
  };
  return {values_[rank(std::floor(n / 2 - half))], values_[rank(std::ceil(n / 2 + half) + 1)]};
}

double Samples::uncertainty() const {
  const auto interval = of_median();
  return median() > 0 ? (interval.high - interval.low) / 2 / median() : 0;
}

}  // namespace latency
