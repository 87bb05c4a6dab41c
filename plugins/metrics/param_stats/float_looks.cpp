#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_looks.cpp"
#include "float_looks.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "narrow.hpp"
#include "order_keys.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Floats = hn::CappedTag<float, 16>;
using Patterns = hn::RebindToUnsigned<Floats>;
using Vector = hn::Vec<Doubles>;

constexpr size_t kAhead = 512;  // numbers to be asked of the memory in time

/// Sums of one in two vectors of doubles: additions need not wait for each other.
struct Sums {
  Vector d1, d2, d3, d4, l1;
};

HWY_INLINE void add(Vector x, Vector center, Sums& s) {
  const Vector d = hn::Sub(x, center), square = hn::Mul(d, d);
  s.d1 = hn::Add(s.d1, d);
  s.d2 = hn::Add(s.d2, square);
  s.d3 = hn::MulAdd(square, d, s.d3);
  s.d4 = hn::MulAdd(square, square, s.d4);
  s.l1 = hn::Add(s.l1, hn::Abs(x));
}

HWY_INLINE double total(Vector a, Vector b) {
  return hn::GetLane(hn::SumOfLanes(Doubles(), hn::Add(a, b)));
}

/// Counters of upper halves.
struct Upper {
  uint32_t *even, *odd;

  HWY_INLINE void count(const float* x, size_t n) const {
    const auto* at = reinterpret_cast<const uint8_t*>(x);
    for (size_t i = 0; i < n; ++i, at += 4) {
      uint16_t code;
      std::memcpy(&code, at + 2, 2);
      ++(i % 2 ? odd : even)[code];
    }
  }
};

/// Counters of lower halves.
struct Lower {
  LowHalves& halves;

  HWY_INLINE void count(const float* x, size_t n) const {
    const auto* at = reinterpret_cast<const uint8_t*>(x);
    uint8_t* HWY_RESTRICT counters = halves.counters();
    for (size_t i = 0; i < n; ++i, at += 4) {
      uint16_t code;
      std::memcpy(&code, at, 2);
      if (HWY_UNLIKELY(++counters[code] == 0)) halves.wrapped(code);
    }
  }
};

/// What is left over of vectors with many equal numbers, counted when there is much: how much each
/// leaves cannot be foreseen, and loops over so few would be mispredicted.
template <class Counters>
class Rest {
 public:
  explicit Rest(Counters to) : to_(to) {}
  template <class V, class M>
  HWY_INLINE void add(V v, M which) {
    hn::StoreU(hn::Compress(v, which), Floats(), numbers_.data() + n_);
    n_ += hn::CountTrue(Floats(), which);
    if (n_ >= kMany) count();
  }
  HWY_INLINE void count() {
    to_.count(numbers_.data(), n_);
    n_ = 0;
  }

 private:
  static constexpr size_t kMany = 256;
  Counters to_;
  size_t n_ = 0;
  std::array<float, kMany + 32> numbers_;  // a vector more than many, and what a store may spoil
};

/// Counts the upper halves of a vector at a time, as a whole where half of it or more is zeros of
/// both signs or equals its first number.
class UpperCounter {
 public:
  explicit UpperCounter(Upper to) : to_(to), rest_(to) {}
  HWY_INLINE void add(const float* x) {
    const Floats d;
    const auto v = hn::LoadU(d, x);
    const auto zero = hn::Eq(v, hn::Zero(d));
    const auto often = hn::Or(zero, hn::Eq(v, hn::Set(d, *x)));
    const size_t here = hn::CountTrue(d, zero), same = hn::CountTrue(d, often);
    zeros_ += here;
    if (2 * same < hn::Lanes(d)) {
      to_.count(x, hn::Lanes(d));
      return;
    }
    const Patterns du;
    repeated_ += here;
    negative_ += hn::CountTrue(du, hn::Eq(hn::BitCast(du, v), hn::Set(du, 0x80000000u)));
    if (same > here) to_.even[OrderKeys<float>::bucket(*x)] += static_cast<uint32_t>(same - here);
    if (same < hn::Lanes(d)) rest_.add(v, hn::Not(often));
  }
  /// All zeros so far.
  HWY_INLINE size_t finish() {
    rest_.count();
    to_.even[0] += static_cast<uint32_t>(repeated_ - negative_);
    to_.even[kNegative] += static_cast<uint32_t>(negative_);
    return zeros_;
  }

 private:
  Upper to_;
  Rest<Upper> rest_;
  size_t zeros_ = 0, repeated_ = 0, negative_ = 0;  // repeated: zeros that are not counted yet
};

BlockSums first(const float* HWY_RESTRICT x, size_t n, double center, uint32_t* even,
                uint32_t* odd) {
  const Doubles d;
  const Floats df;
  const hn::Rebind<float, Doubles> half;
  const size_t lanes = hn::Lanes(d), step = 2 * lanes, whole = n / step * step;
  const Vector c = hn::Set(d, center), zero = hn::Zero(d);
  Sums a{zero, zero, zero, zero, zero}, b = a;
  auto low = hn::Set(df, *x), high = low;
  auto patterns = hn::BitCast(Patterns(), low);
  UpperCounter counter({even, odd});
  for (size_t i = 0; i < whole; i += step) {
    add(hn::PromoteTo(d, hn::LoadU(half, x + i)), c, a);
    add(hn::PromoteTo(d, hn::LoadU(half, x + i + lanes)), c, b);
    hwy::Prefetch(x + i + kAhead);
    for (size_t k = i; k < i + step; k += hn::Lanes(df)) {  // once, but without SIMD twice
      const auto v = hn::LoadU(df, x + k);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
      patterns = hn::Or(patterns, hn::BitCast(Patterns(), v));
      counter.add(x + k);
    }
  }
  BlockSums out;
  out.powers = {total(a.d1, b.d1), total(a.d2, b.d2), total(a.d3, b.d3), total(a.d4, b.d4)};
  out.l1 = total(a.l1, b.l1);
  out.min = static_cast<double>(hn::GetLane(hn::MinOfLanes(df, low)));
  out.max = static_cast<double>(hn::GetLane(hn::MaxOfLanes(df, high)));
  out.zeros = counter.finish();
  HWY_ALIGN std::array<uint32_t, 16> lanes_of{};
  hn::Store(patterns, Patterns(), lanes_of.data());
  out.patterns = 0;
  for (const uint32_t p : lanes_of) out.patterns |= p;
  for (size_t i = whole; i < n; ++i) {
    out.add(static_cast<double>(x[i]), center);
    out.patterns |= OrderKeys<float>::bits(x[i]);
  }
  Upper{even, odd}.count(x + whole, n - whole);
  return out;
}

/// One bit for every bucket that is wanted, by the lowest bits of its code.
class Wanted {
 public:
  explicit Wanted(std::span<const uint16_t> buckets) {
    const Patterns d;
    HWY_ALIGN std::array<uint32_t, 16> words{};
    const size_t lanes = hn::Lanes(d);
    for (const uint16_t b : buckets) words[b / 32 % lanes] |= 1u << b % 32;
    words_ = hn::LoadU(d, words.data());
  }
  template <class V>
  HWY_INLINE auto holds(V bits) const {
    const Patterns d;
    const auto code = hn::ShiftRight<16>(bits);
    const auto at = hn::And(hn::ShiftRight<5>(code), hn::Set(d, hn::Lanes(d) - 1));
    const auto word = hn::TableLookupLanes(words_, hn::IndicesFromVec(d, at));
    const auto bit = hn::Shl(hn::Set(d, 1), hn::And(code, hn::Set(d, 31)));
    return hn::TestBit(word, bit);
  }

 private:
  hn::Vec<Patterns> words_;
};

/// Counts the lower halves of a vector at a time; those that are 0, as of zeros and of what was
/// bfloat16 before, as a whole.
class LowerCounter {
 public:
  explicit LowerCounter(LowHalves& to) : to_{to}, rest_(to_) {}
  template <class V>
  HWY_INLINE void add(const float* x, V v) {
    const Patterns du;
    const auto zero = hn::Eq(hn::ShiftLeft<16>(hn::BitCast(du, v)), hn::Zero(du));
    const size_t zeros = hn::CountTrue(du, zero), lanes = hn::Lanes(du);
    if (2 * zeros < lanes) {
      to_.count(x, lanes);
      return;
    }
    zeros_ += zeros;
    if (zeros < lanes) rest_.add(v, hn::RebindMask(Floats(), hn::Not(zero)));
  }
  HWY_INLINE void finish(const float* x, size_t n) {
    to_.count(x, n);
    rest_.count();
    to_.halves.add(0, zeros_);
  }

 private:
  Lower to_;
  Rest<Lower> rest_;
  size_t zeros_ = 0;
};
struct NoCounter {
  template <class V>
  HWY_INLINE void add(const float*, V) {}
  HWY_INLINE void finish(const float*, size_t) {}
};

template <class Halves>
HWY_INLINE size_t sift(const float* HWY_RESTRICT x, size_t n, const Sieve& sieve,
                       float* HWY_RESTRICT found, Halves halves) {
  const Floats d;
  const Patterns du;
  const size_t lanes = hn::Lanes(d);
  const Wanted wanted(sieve.buckets);
  const auto scale = hn::Set(d, sieve.scale), offset = hn::Set(d, sieve.offset);
  const auto slack = hn::Set(d, sieve.slack);
  const auto upper = hn::Set(du, 0xffff0000u), lower = hn::Set(du, 0xffffu);
  const auto exponent = hn::Set(du, 0x7f800000u);
  size_t i = 0, out = 0;
  for (; i + lanes <= n; i += lanes) {
    hwy::Prefetch(x + i + kAhead);
    const auto v = hn::LoadU(d, x + i);
    const auto bits = hn::BitCast(du, v);
    // The ends of the bucket; a negative number's first is the larger. Subnormal ones, which take
    // a processor a hundred cycles, are 0: the slack is far wider.
    const auto normal = hn::Ne(hn::And(bits, exponent), hn::Zero(du));
    const auto near = hn::BitCast(d, hn::IfThenElseZero(normal, hn::And(bits, upper)));
    const auto far = hn::BitCast(d, hn::IfThenElseZero(normal, hn::Or(bits, lower)));
    const auto away = hn::CopySignToAbs(slack, v);
    const auto first_bin = hn::Floor(hn::MulAdd(near, scale, hn::Sub(offset, away)));
    const auto last_bin = hn::Floor(hn::MulAdd(far, scale, hn::Add(offset, away)));
    const auto inside = hn::RebindMask(du, hn::Eq(first_bin, last_bin));  // false of NaN
    const auto which = hn::RebindMask(d, hn::Or(hn::Not(inside), wanted.holds(bits)));
    hn::StoreU(hn::Compress(v, which), d, found + out);
    out += hn::CountTrue(d, which);
    halves.add(x + i, v);
  }
  halves.finish(x + i, n - i);
  for (; i < n; ++i) found[out++] = x[i];
  return out;
}

size_t second(const float* x, size_t n, const Sieve& sieve, float* found, LowHalves& halves) {
  return sift(x, n, sieve, found, LowerCounter(halves));
}
size_t later(const float* x, size_t n, const Sieve& sieve, float* found) {
  return sift(x, n, sieve, found, NoCounter());
}

/// As is_half in narrow.hpp.
bool half(const float* x, size_t n) {
  const Floats d;
  const Patterns du;
  const auto lost = hn::Set(du, 0x1fff);
  const auto most = hn::Set(d, 65504.f), least = hn::Set(d, 0x1p-14f), one_half = hn::Set(d, 0.5f);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i), size = hn::Abs(v);
    const auto short_mantissa =
        hn::RebindMask(d, hn::Eq(hn::And(hn::BitCast(du, v), lost), hn::Zero(du)));
    const auto rounded = hn::Sub(hn::Add(size, one_half), one_half);
    const auto normal = hn::Or(hn::Ge(size, least), hn::Eq(rounded, size));
    if (!hn::AllTrue(d, hn::And(hn::And(short_mantissa, hn::Le(size, most)), normal))) return false;
  }
  return std::all_of(x + i, x + n, is_half);
}

void buckets(const double* HWY_RESTRICT x, size_t n, uint16_t* HWY_RESTRICT out) {
  using Keys = OrderKeys<double>;
  const hn::ScalableTag<int64_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> codes;
  const auto first = hn::Set(d, Keys::kFirst), last = hn::Set(d, int64_t{kLastBucket});
  const auto sign = hn::Set(d, INT64_MIN);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(d, hn::LoadU(Doubles(), x + i));
    const auto at = hn::Sub(hn::ShiftRight<Keys::kShift>(hn::AndNot(sign, bits)), first);
    const auto kept = hn::BitCast(du, hn::Min(hn::Max(at, hn::Zero(d)), last));
    const auto negative = hn::ShiftRight<48>(hn::BitCast(du, hn::And(bits, sign)));
    hn::StoreU(hn::TruncateTo(codes, hn::Or(kept, negative)), codes, out + i);
  }
  for (; i < n; ++i) out[i] = Keys::bucket(x[i]);
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(first);
HWY_EXPORT(second);
HWY_EXPORT(later);
HWY_EXPORT(half);
HWY_EXPORT(buckets);

/// Rounding errs by less than 2^-21 of what is added up.
Sieve bin_sieve(const EqualBins& bins, double min, double max, std::span<const uint16_t> buckets) {
  Sieve out;
  out.buckets = buckets;
  if (!bins.usable()) return out;
  const double scale = static_cast<double>(kBins) / (max - min);
  const double most = std::fmax(std::fabs(min), std::fabs(max)) * scale;
  const double slack = 0x1p-21 * (static_cast<double>(kBins) + most);
  out.scale = static_cast<float>(scale);
  out.offset = static_cast<float>(-min * scale);
  out.slack = slack < 1 && scale < 1e30 ? static_cast<float>(slack)
                                        : std::numeric_limits<float>::quiet_NaN();
  return out;
}

BlockSums first_look(const float* x, size_t n, double center, uint32_t* even, uint32_t* odd) {
  return HWY_DYNAMIC_DISPATCH(first)(x, n, center, even, odd);
}
size_t second_look(const float* x, size_t n, const Sieve& sieve, float* found, LowHalves& halves) {
  return HWY_DYNAMIC_DISPATCH(second)(x, n, sieve, found, halves);
}
size_t later_look(const float* x, size_t n, const Sieve& sieve, float* found) {
  return HWY_DYNAMIC_DISPATCH(later)(x, n, sieve, found);
}
bool all_half(const float* x, size_t n) { return HWY_DYNAMIC_DISPATCH(half)(x, n); }
void buckets_of(const double* x, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(buckets)(x, n, out);
}

}  // namespace param_stats
#endif
