// The errors of rounding runs of elements to every scheme: sums of squares of elements and errors.
#pragma once
#include <array>
#include <vector>

#include "grid.hpp"

namespace quantization {

struct Sums {
  double power = 0;                          // Σ x²
  std::array<double, kSchemeCount> error{};  // Σ (x - q)²

  void add(const Sums& o) {
    power += o.power;
    for (size_t i = 0; i < kSchemeCount; ++i) error[i] += o.error[i];
  }
};

constexpr size_t padded(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

class Meter {
 public:
  /// Computes the ranges of x[0, n), which begins a group and is followed by zeros up to padded(n).
  /// False if an element is not finite; then nothing below may be called.
  bool observe(const float* x, size_t n);
  const Range& range() const { return range_; }
  /// Sets x without its ranges, only for `scaled`.
  void view(const float* x, size_t n) { x_ = x, n_ = padded(n); }

  /// Adds power, casts and all schemes with groups.
  void groups(Sums& into) const;
  /// Adds the schemes of a scope whose scale comes from `range`, which covers all elements.
  void scaled(Scope scope, const Range& range, Sums& into) const;

 private:
  double group_error(const Scheme& s, size_t begin, size_t n) const;

  const float* x_ = nullptr;
  size_t n_ = 0;  // padded
  Range range_;
  /// Minimum and maximum, zero included, of each 32 << i elements; then kStoreSlack zeros.
  struct Ranges {
    std::vector<float> lo, hi;
  };
  std::array<Ranges, 3> ranges_;
};

}  // namespace quantization
