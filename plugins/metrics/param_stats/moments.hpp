// Mean and central moments that merge without losing digits.
//
// All are relative to `shift`, a value near the data: with a mean of 1e6 and a deviation of 1e-3
// the rounding of the mean itself would otherwise hide the deviation.
// Merging: Pébay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and
// Arbitrary-Order Statistical Moments", SAND2008-6212, eq. 2.1 and 3.1, which for the variance is
// Chan, Golub, LeVeque 1979.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace param_stats {

/// Sums of powers of d = x - center.
struct PowerSums {
  double d1 = 0, d2 = 0, d3 = 0, d4 = 0;
};

struct Moments {
  static constexpr double kSmallestExactSquare = 1e-290;

  uint64_t n = 0;
  double shift = 0;
  double mean = 0;  // mean of x - shift
  double m2 = 0, m3 = 0, m4 = 0;

  static Moments about(double center, uint64_t n, const PowerSums& s) {
    Moments out;
    if (n == 0) return out;
    const double count = static_cast<double>(n), e = s.d1 / count;
    out.n = n;
    out.shift = center;
    out.mean = e;
    out.m2 = std::fmax(0, s.d2 - count * e * e);
    out.m3 = s.d3 - 3 * e * s.d2 + 2 * count * e * e * e;
    out.m4 = std::fmax(0, s.d4 - 4 * e * s.d3 + 6 * e * e * s.d2 - 3 * count * e * e * e * e);
    return out;
  }

  void merge(const Moments& o) {
    if (o.n == 0) return;
    if (n == 0) {
      *this = o;
      return;
    }
    const double a = static_cast<double>(n), b = static_cast<double>(o.n), all = a + b;
    const double d = (o.shift - shift) + (o.mean - mean), share = d / all;
    m4 += o.m4 + d * share * share * share * a * b * (a * a - a * b + b * b) +
          6 * share * share * (a * a * o.m2 + b * b * m2) + 4 * share * (a * o.m3 - b * m3);
    m3 += o.m3 + d * share * share * a * b * (a - b) + 3 * share * (a * o.m2 - b * m2);
    m2 += o.m2 + d * share * a * b;
    mean += d * (b / all);  // share * b would underflow for subnormals
    n += o.n;
  }

  // The following require n > 0.
  double average() const { return shift + mean; }
  double variance() const { return m2 / static_cast<double>(n); }  // population: ddof = 0
  double deviation() const { return std::sqrt(variance()); }
  double sum_of_squares() const {
    const double average_ = average();
    return m2 + static_cast<double>(n) * average_ * average_;
  }
  double root_mean_square() const { return std::sqrt(sum_of_squares() / static_cast<double>(n)); }
  /// False if squares overflow or lose digits, which only float64 tensors can cause.
  bool has_squares() const {
    const double mean_square = sum_of_squares() / static_cast<double>(n);
    return mean_square == 0
               ? m2 == 0 && average() == 0
               : mean_square >= kSmallestExactSquare && std::isfinite(m2 + mean_square);
  }
  bool has_variance() const {
    return has_squares() && (m2 == 0 || variance() >= kSmallestExactSquare);
  }
  /// False if skewness and kurtosis, which divide by powers of the variance, mean nothing.
  bool has_shape() const { return variance() >= 1e-140 && std::isfinite(m4); }
  /// Equal to scipy.stats.skew and kurtosis (Fisher: 0 for a normal distribution) with their bias.
  double skewness() const { return m3 / static_cast<double>(n) / std::pow(variance(), 1.5); }
  double kurtosis() const { return m4 / static_cast<double>(n) / (variance() * variance()) - 3; }
};

/// Neumaier's compensated sum.
class ExactSum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// The sums over a block of values that give moments, norms and extremes, by SIMD with the best
// instructions of the processor.

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
