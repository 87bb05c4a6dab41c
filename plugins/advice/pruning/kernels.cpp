#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include "kernels.hpp"

#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>

HWY_BEFORE_NAMESPACE();
namespace pruning::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Patterns = hn::CappedTag<uint32_t, 16>;
using Doubles = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Doubles>;

constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;

bool finite(const uint32_t* x, size_t n) {
  const Patterns d;
  const size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    largest = hn::Max(largest, hn::And(hn::LoadU(d, x + i), hn::Set(d, kMagnitude)));
  if (hn::GetLane(hn::MaxOfLanes(d, largest)) >= kInfinity) return false;
  return std::all_of(x + i, x + n, [](uint32_t p) { return (p & kMagnitude) < kInfinity; });
}

/// Counts zeros by vectors, because repeated increments of one counter wait for the previous store.
bool magnitudes(const float* numbers, size_t n, uint64_t* HWY_RESTRICT bins) {
  const auto* x = reinterpret_cast<const uint32_t*>(numbers);
  if (!finite(x, n)) return false;
  const Patterns d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::array<uint32_t, 64> rest;
  size_t i = 0, zeros = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bin = hn::ShiftRight<16>(hn::And(hn::LoadU(d, x + i), hn::Set(d, kMagnitude)));
    const auto other = hn::Ne(bin, hn::Zero(d));
    const size_t left = hn::CountTrue(d, other);
    if (2 * left > lanes) {
      hn::Store(bin, d, rest.data());
      for (size_t k = 0; k < lanes; ++k) ++bins[rest[k]];
      continue;
    }
    zeros += lanes - left;
    if (left == 0) continue;
    hn::StoreU(hn::Compress(bin, other), d, rest.data());
    for (size_t k = 0; k < left; ++k) ++bins[rest[k]];
  }
  bins[0] += zeros;
  for (; i < n; ++i) ++bins[(x[i] & kMagnitude) >> 16];
  return true;
}

/// The two largest of four are the first two, the last two, or the larger of each pair.
HWY_INLINE double best_two(double a, double b, double c, double d) {
  return std::max({a + b, c + d, std::max(a, b) + std::max(c, d)});
}

RowSquares squares(const float* HWY_RESTRICT x, size_t n, bool fours,
                   double* HWY_RESTRICT columns) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const size_t lanes = hn::Lanes(d);
  Vector all = hn::Zero(d), kept = all;
  RowSquares out;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    hn::Vec<decltype(df)> f0, f1, f2, f3;
    if (fours) {  // vector i has element i of each group of four
      hn::LoadInterleaved4(df, x + i, f0, f1, f2, f3);
      const Vector a = hn::PromoteTo(d, f0), b = hn::PromoteTo(d, f1);
      const Vector c = hn::PromoteTo(d, f2), e = hn::PromoteTo(d, f3);
      const Vector aa = hn::Mul(a, a), bb = hn::Mul(b, b), cc = hn::Mul(c, c), ee = hn::Mul(e, e);
      const Vector apart = hn::Add(hn::Max(aa, bb), hn::Max(cc, ee));
      kept = hn::Add(kept, hn::Max(apart, hn::Max(hn::Add(aa, bb), hn::Add(cc, ee))));
    }
    for (size_t k = i; k < i + 4 * lanes; k += lanes) {
      const Vector v = hn::PromoteTo(d, hn::LoadU(df, x + k)), square = hn::Mul(v, v);
      hn::StoreU(hn::Add(hn::LoadU(d, columns + k), square), d, columns + k);
      all = hn::Add(all, square);
    }
  }
  out.all = hn::GetLane(hn::SumOfLanes(d, all));
  out.kept = hn::GetLane(hn::SumOfLanes(d, kept));
  for (size_t k = i; k < n; ++k) {
    const double square = double{x[k]} * double{x[k]};
    columns[k] += square;
    out.all += square;
  }
  const auto at = [x](size_t k) { return double{x[k]} * double{x[k]}; };
  if (fours)
    for (; i + 4 <= n; i += 4) out.kept += best_two(at(i), at(i + 1), at(i + 2), at(i + 3));
  return out;
}

}  // namespace pruning::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pruning {

HWY_EXPORT(magnitudes);
HWY_EXPORT(squares);

bool count_magnitudes(const float* x, size_t n, uint64_t* bins) {
  return HWY_DYNAMIC_DISPATCH(magnitudes)(x, n, bins);
}
RowSquares add_squares(const float* x, size_t n, bool fours, double* columns) {
  return HWY_DYNAMIC_DISPATCH(squares)(x, n, fours, columns);
}

}  // namespace pruning
#endif
