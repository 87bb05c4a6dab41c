#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "power_sums.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include "moments.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Vector = hn::Vec<Doubles>;

inline Vector load(const double* x) { return hn::LoadU(Doubles(), x); }
inline Vector load(const float* x) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

/// Two copies, so that additions do not wait for each other.
struct Sums {
  Vector d1, d2, d3, d4, l1, zeros;
};

inline void add(Vector x, Vector center, Sums& s) {
  const Vector d = hn::Sub(x, center), square = hn::Mul(d, d);
  s.d1 = hn::Add(s.d1, d);
  s.d2 = hn::Add(s.d2, square);
  s.d3 = hn::MulAdd(square, d, s.d3);
  s.d4 = hn::MulAdd(square, square, s.d4);
  s.l1 = hn::Add(s.l1, hn::Abs(x));
  const auto zero = hn::Eq(x, hn::Zero(Doubles()));
  s.zeros = hn::Add(s.zeros, hn::IfThenElseZero(zero, hn::Set(Doubles(), 1.0)));
}

inline double total(Vector a, Vector b) {
  return hn::GetLane(hn::SumOfLanes(Doubles(), hn::Add(a, b)));
}

template <class T>
BlockSums sums_of(const T* HWY_RESTRICT x, size_t n, double center) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d), whole = n / (2 * lanes) * (2 * lanes);
  const Vector c = hn::Set(d, center);
  const Vector zero = hn::Zero(d);
  Sums a{zero, zero, zero, zero, zero, zero}, b = a;
  Vector low = hn::Set(d, static_cast<double>(x[0])), high = low;
  for (size_t i = 0; i < whole; i += 2 * lanes) {
    const Vector u = load(x + i), v = load(x + i + lanes);
    add(u, c, a);
    add(v, c, b);
    low = hn::Min(low, hn::Min(u, v));
    high = hn::Max(high, hn::Max(u, v));
  }
  BlockSums out;
  out.powers = {total(a.d1, b.d1), total(a.d2, b.d2), total(a.d3, b.d3), total(a.d4, b.d4)};
  out.l1 = total(a.l1, b.l1);
  out.zeros = static_cast<uint64_t>(total(a.zeros, b.zeros));
  out.min = hn::GetLane(hn::MinOfLanes(d, low));
  out.max = hn::GetLane(hn::MaxOfLanes(d, high));
  for (size_t i = whole; i < n; ++i) out.add(x[i], center);
  return out;
}

BlockSums of_floats(const float* x, size_t n, double center) { return sums_of(x, n, center); }
BlockSums of_doubles(const double* x, size_t n, double center) { return sums_of(x, n, center); }

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(of_floats);
HWY_EXPORT(of_doubles);

BlockSums block_sums(const float* x, size_t n, double center) {
  return HWY_DYNAMIC_DISPATCH(of_floats)(x, n, center);
}
BlockSums block_sums(const double* x, size_t n, double center) {
  return HWY_DYNAMIC_DISPATCH(of_doubles)(x, n, center);
}

}  // namespace param_stats
#endif
