// Whether a narrower type would hold all values of a tensor exactly. For most weights this is false
// within the first block.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "statistics.hpp"

namespace param_stats {

/// A float16 has 10 bits of mantissa, and below 2^-14 steps of 2^-24: adding 1/2, whose own last
/// bit is 2^-24, rounds smaller steps away.
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

/// Finite values only.
class NarrowerTypes {
 public:
  void add(std::span<const float> x) {
    bfloat16_ = bfloat16_ && std::all_of(x.begin(), x.end(), is_bfloat16);
    half_ = half_ && std::all_of(x.begin(), x.end(), is_half);
  }
  void add(std::span<const double> x) {
    single_ = single_ && std::all_of(x.begin(), x.end(), is_single);
  }
  void merge(const NarrowerTypes& o) {
    half_ = half_ && o.half_;
    bfloat16_ = bfloat16_ && o.bfloat16_;
    single_ = single_ && o.single_;
  }
  bool bfloat16() const { return bfloat16_; }
  /// Fills the flags that apply to values of type `type`.
  void report(tmeter::DType type, Statistics& out) const {
    const bool is_single = type.id() == TMETER_DTYPE_FLOAT32;
    out.fits_half = is_single && half_;
    out.fits_bfloat16 = is_single && bfloat16_;
    out.fits_single = type.id() == TMETER_DTYPE_FLOAT64 && single_;
  }

 private:
  bool half_ = true, bfloat16_ = true, single_ = true;
};

}  // namespace param_stats
