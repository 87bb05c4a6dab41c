// Whether all numbers of a tensor would fit a narrower type exactly. Real weights answer no within
// the first block, so this costs nothing.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "figures.hpp"
#include "float_looks.hpp"

namespace param_stats {

/// A float16 has 10 bits of mantissa, and below 2^-14 steps of 2^-24: adding 1/2, whose own last
/// bit is 2^-24, rounds what is finer away.
inline bool is_half(float x) {
  const float magnitude = std::fabs(x);
  const bool short_mantissa = (std::bit_cast<uint32_t>(x) & 0x1fff) == 0;
  const float rounded = (magnitude + 0.5f) - 0.5f;
  return short_mantissa && magnitude <= 65504.f && (magnitude >= 0x1p-14f || rounded == magnitude);
}
inline bool is_bfloat16(float x) { return (std::bit_cast<uint32_t>(x) & 0xffff) == 0; }
inline bool is_single(double x) {
  return std::fabs(x) <= 0x1.fffffep127 && static_cast<double>(static_cast<float>(x)) == x;
}

class NarrowCheck {
 public:
  /// Finite numbers only, of which `patterns` has the bits of all, or more.
  void add(std::span<const float> x, uint32_t patterns = ~0u) {
    if (bfloat16_ && (patterns & 0xffff)) bfloat16_ = all_bfloat16(x.data(), x.size());
    half_ = half_ && all_half(x.data(), x.size());
  }
  void add(std::span<const double> x) { single_ = single_ && all(x, is_single); }
  void merge(const NarrowCheck& o) {
    half_ = half_ && o.half_;
    bfloat16_ = bfloat16_ && o.bfloat16_;
    single_ = single_ && o.single_;
  }
  /// Whether all were bfloat16 so far.
  bool bfloat16() const { return bfloat16_; }
  void report_single(Figures& out) const {
    out.fits_half = half_;
    out.fits_bfloat16 = bfloat16_;
  }
  void report_double(Figures& out) const { out.fits_single = single_; }

 private:
  template <class T, class Fits>
  static bool all(std::span<const T> x, Fits fits) {
    for (const T v : x)
      if (!fits(v)) return false;
    return true;
  }
  bool half_ = true, bfloat16_ = true, single_ = true;
};

}  // namespace param_stats
