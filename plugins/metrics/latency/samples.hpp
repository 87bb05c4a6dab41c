// Repeated measurements of one quantity, and their statistics.
#pragma once
#include <cstddef>
#include <vector>

namespace latency {

/// A 95 % confidence interval of the median.
struct Interval {
  double low = 0, high = 0;
};

class Samples {
 public:
  void add(double value) { values_.push_back(value), sorted_ = false; }
  size_t count() const { return values_.size(); }
  bool empty() const { return values_.empty(); }

  /// Interpolates linearly between the two nearest (R's type 7, NumPy's default); 0 without
  /// samples.
  double quantile(double q) const;
  double median() const { return quantile(0.5); }
  /// From order statistics, without assuming a distribution: ranks
  /// n/2 ∓ 1.96 √n / 2 (Conover, Practical Nonparametric Statistics, 3.2). All of them when there
  /// are fewer than six, which can give no such interval.
  Interval of_median() const;
  /// Half that interval's width as a share of the median.
  double uncertainty() const;

 private:
  void sort() const;
  mutable std::vector<double> values_;
  mutable bool sorted_ = true;
};

}  // namespace latency
