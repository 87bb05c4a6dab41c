// Repeated measurements of one thing, and what they come to.
#pragma once
#include <cstddef>
#include <vector>

namespace latency {

/// An interval in which the true median lies with 95 % confidence.
struct Interval {
  double low = 0, high = 0;
};

class Samples {
 public:
  void add(double value) { values_.push_back(value), sorted_ = false; }
  size_t count() const { return values_.size(); }
  bool empty() const { return values_.empty(); }

  /// Between the two nearest, in proportion (R's type 7, NumPy's default); 0 without samples.
  double quantile(double q) const;
  double median() const { return quantile(0.5); }
  /// By order statistics, without any assumption of how they are spread: ranks
  /// n/2 ∓ 1.96 √n / 2 (Conover, Practical Nonparametric Statistics, 3.2). All of them when there are
  /// fewer than six, which can give no such interval.
  Interval of_median() const;
  /// Half that interval's width as a share of the median.
  double uncertainty() const;

 private:
  void sort() const;
  mutable std::vector<double> values_;
  mutable bool sorted_ = true;
};

}  // namespace latency
