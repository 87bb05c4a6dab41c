// Compiled once per instruction set (foreach_target.h); the best one is chosen at run time.
#include "kernels.hpp"

#include "grid.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quantization {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kAlign>;
using V = hn::Vec<D>;

/// Σ f(v)² over [begin, end), end - begin a multiple of 32. Two sums, because each addition waits
/// for the previous one.
template <class F>
HWY_INLINE V squares(D d, const float* x, size_t begin, size_t end, F f) {
  const size_t lanes = hn::Lanes(d);
  V even = hn::Zero(d), odd = hn::Zero(d);
  size_t i = begin;
  for (; i + 2 * lanes <= end; i += 2 * lanes) {
    const V a = f(hn::LoadU(d, x + i)), b = f(hn::LoadU(d, x + i + lanes));
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  if (i < end) {
    const V a = f(hn::LoadU(d, x + i));
    even = hn::MulAdd(a, a, even);
  }
  return hn::Add(even, odd);
}

HWY_INLINE double total(D d, V v) { return double{hn::GetLane(hn::SumOfLanes(d, v))}; }

uint32_t RangesOf(const float* x, size_t n, float* lo, float* hi) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const size_t lanes = hn::Lanes(d);
  auto bits = hn::Zero(du);
  const auto magnitude = hn::Set(du, 0x7fffffffu);
  for (size_t g = 0; g * kAlign < n; ++g) {
    V least = hn::Zero(d), most = hn::Zero(d);
    for (size_t i = g * kAlign; i < (g + 1) * kAlign; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      least = hn::Min(least, v);
      most = hn::Max(most, v);
      bits = hn::Max(bits, hn::And(hn::BitCast(du, v), magnitude));
    }
    lo[g] = hn::GetLane(hn::MinOfLanes(d, least));
    hi[g] = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  return hn::GetLane(hn::MaxOfLanes(du, bits));
}

double PowerOf(const float* x, size_t n, float unit) {
  const D d;
  const V u = hn::Set(d, unit);
  return total(d, squares(d, x, 0, n, [&](V v) HWY_ATTR { return hn::Mul(v, u); }));
}

double IntegerError(const float* x, size_t n, size_t group, const IntegerGroup* g) {
  const D d;
  V sum = hn::Zero(d);
  for (size_t begin = 0; begin < n; begin += group, ++g) {
    const V inverse = hn::Set(d, g->inverse_step), lo = hn::Set(d, g->lo), hi = hn::Set(d, g->hi);
    const size_t end = begin + group < n ? begin + group : n;
    const V errors = squares(d, x, begin, end, [&](V v) HWY_ATTR {
      const V t = hn::Mul(v, inverse);
      return hn::Sub(t, hn::Min(hn::Max(hn::Round(t), lo), hi));
    });
    sum = hn::MulAdd(errors, hn::Set(d, g->weight), sum);
  }
  return total(d, sum);
}

/// Rounds to `mantissa` bits, half to even: adding and subtracting 1.5 · 2^(23 - mantissa) times
/// the power of two below |t| leaves just those bits.
double FloatError(const float* x, size_t n, size_t group, const LevelGroup* g,
                  const FloatFormat& format) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const V exponent = hn::BitCast(d, hn::Set(du, 0x7f800000u));
  const V smallest = hn::Set(d, power_of_two(format.min_exponent));
  const V shift = hn::Set(d, 1.5f * power_of_two(23 - format.mantissa));
  const V largest = hn::Set(d, format.largest);
  V sum = hn::Zero(d);
  for (size_t begin = 0; begin < n; begin += group, ++g) {
    const V inverse = hn::Set(d, g->inverse), unit = hn::Set(d, g->unit);
    const size_t end = begin + group < n ? begin + group : n;
    const V errors = squares(d, x, begin, end, [&](V v) HWY_ATTR {
      const V t = hn::Mul(v, inverse);
      const V inside = hn::Min(hn::Max(t, hn::Neg(largest)), largest);
      const V magic = hn::Mul(hn::Max(hn::And(inside, exponent), smallest), shift);
      return hn::Mul(hn::Sub(t, hn::Sub(hn::Add(inside, magic), magic)), unit);
    });
    sum = hn::Add(sum, errors);
  }
  return total(d, sum);
}

double NormalError(const float* x, size_t n, size_t group, const LevelGroup* g) {
  const D d;
  V sum = hn::Zero(d);
  for (size_t begin = 0; begin < n; begin += group, ++g) {
    const V inverse = hn::Set(d, g->inverse), unit = hn::Set(d, g->unit);
    const size_t end = begin + group < n ? begin + group : n;
    const V errors = squares(d, x, begin, end, [&](V v) HWY_ATTR {
      const V t = hn::Mul(v, inverse);
      V level = hn::Set(d, kNormalLevels[0]);  // climbs a step at every boundary below t
      for (size_t i = 0; i + 1 < kNormalLevels.size(); ++i) {
        const V step = hn::Set(d, kNormalLevels[i + 1] - kNormalLevels[i]);
        level = hn::Add(level, hn::IfThenElseZero(hn::Gt(t, hn::Set(d, kNormalBounds[i])), step));
      }
      return hn::Mul(hn::Sub(t, level), unit);
    });
    sum = hn::Add(sum, errors);
  }
  return total(d, sum);
}

/// v in all lanes.
HWY_INLINE V All(float v) { return hn::Set(D(), v); }

void IntegerGrids(const float* lo, const float* hi, size_t n, int bits, bool symmetric, float unit,
                  IntegerGroup* out) {
  static_assert(sizeof(IntegerGroup) == 4 * sizeof(float));
  const D d;
  const float codes = static_cast<float>((1 << bits) - 1);
  const float least = -static_cast<float>(1 << (bits - 1)), most = least + codes;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const V low = hn::LoadU(d, lo + i), high = hn::LoadU(d, hi + i);
    const V step = hn::Max(symmetric ? hn::Div(hn::Max(hn::Neg(low), high), All(codes / 2))
                                     : hn::Sub(hn::Div(high, All(codes)), hn::Div(low, All(codes))),
                           All(FLT_MIN));
    const V at = hn::Sub(All(least), hn::Round(hn::Div(low, step)));
    const V zero = symmetric ? hn::Zero(d) : hn::Min(hn::Max(at, All(least)), All(most));
    const V relative = hn::Div(step, All(unit));
    hn::StoreInterleaved4(hn::Div(All(1.f), step), hn::Sub(All(least), zero),
                          hn::Sub(All(most), zero), hn::Mul(relative, relative), d,
                          &out[i].inverse_step);
  }
}

void LevelGrids(const float* lo, const float* hi, size_t n, const Scheme& s, float unit,
                LevelGroup* out) {
  static_assert(sizeof(LevelGroup) == 2 * sizeof(float));
  const D d;
  const hn::RebindToUnsigned<D> du;
  const bool shared_exponent = s.grid == Grid::kFloat && s.scope == Scope::kGroup;
  const V exponent = hn::BitCast(d, hn::Set(du, 0x7f800000u));
  const float largest_binade = binade(s.format.largest);
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const V largest = hn::Max(hn::Neg(hn::LoadU(d, lo + i)), hn::LoadU(d, hi + i));
    const V below = hn::And(hn::Max(largest, All(FLT_MIN)), exponent);  // binade
    const V scale = s.grid == Grid::kNormal ? largest
                    : shared_exponent       ? hn::Div(below, All(largest_binade))
                                            : hn::Div(largest, All(s.format.largest));
    const V usable = hn::Max(scale, All(FLT_MIN));
    hn::StoreInterleaved2(hn::Div(All(1.f), usable), hn::Div(usable, All(unit)), d,
                          &out[i].inverse);
  }
}

void KeepLargest(const float* x, size_t n, float* into) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Max(hn::LoadU(d, into + i), hn::Abs(hn::LoadU(d, x + i))), d, into + i);
  for (; i < n; ++i) {
    const float magnitude = x[i] < 0 ? -x[i] : x[i];
    if (magnitude > into[i]) into[i] = magnitude;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace quantization
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quantization {

HWY_EXPORT(RangesOf);
HWY_EXPORT(PowerOf);
HWY_EXPORT(IntegerError);
HWY_EXPORT(FloatError);
HWY_EXPORT(NormalError);
HWY_EXPORT(IntegerGrids);
HWY_EXPORT(LevelGrids);
HWY_EXPORT(KeepLargest);

uint32_t ranges(const float* x, size_t n, float* lo, float* hi) {
  return HWY_DYNAMIC_DISPATCH(RangesOf)(x, n, lo, hi);
}
double power(const float* x, size_t n, float unit) {
  return HWY_DYNAMIC_DISPATCH(PowerOf)(x, n, unit);
}
double integer_error(const float* x, size_t n, size_t group, const IntegerGroup* groups) {
  return HWY_DYNAMIC_DISPATCH(IntegerError)(x, n, group, groups);
}
double float_error(const float* x, size_t n, size_t group, const LevelGroup* groups,
                   const FloatFormat& format) {
  return HWY_DYNAMIC_DISPATCH(FloatError)(x, n, group, groups, format);
}
double normal_error(const float* x, size_t n, size_t group, const LevelGroup* groups) {
  return HWY_DYNAMIC_DISPATCH(NormalError)(x, n, group, groups);
}
void integer_grids(const float* lo, const float* hi, size_t n, int bits, bool symmetric, float unit,
                   IntegerGroup* out) {
  HWY_DYNAMIC_DISPATCH(IntegerGrids)(lo, hi, n, bits, symmetric, unit, out);
}
void level_grids(const float* lo, const float* hi, size_t n, const Scheme& scheme, float unit,
                 LevelGroup* out) {
  HWY_DYNAMIC_DISPATCH(LevelGrids)(lo, hi, n, scheme, unit, out);
}
void keep_largest(const float* x, size_t n, float* into) {
  HWY_DYNAMIC_DISPATCH(KeepLargest)(x, n, into);
}

}  // namespace quantization
#endif
