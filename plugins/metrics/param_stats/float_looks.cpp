#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_looks.cpp"
#include "float_looks.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

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

/// The places in a vector: what is done for each is written out, as a loop over so few costs more.
using Places = std::make_index_sequence<hn::MaxLanes(Floats())>;

HWY_INLINE uint16_t half_at(const float* x, size_t byte) {
  uint16_t code;
  std::memcpy(&code, reinterpret_cast<const uint8_t*>(x) + byte, 2);
  return code;
}

/// The address in a register: to add where two registers point takes a processor two steps more
/// than where one does.
HWY_INLINE uint32_t* at_hand(uint32_t* at) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(at));
#endif
  return at;
}

/// Counts n numbers one by one.
template <class Counters>
HWY_INLINE void each(const float* x, size_t n, const Counters& counters) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (const size_t k : {0, 1, 2, 3}) counters.one(x + i, k);
  for (size_t k = 0; i + k < n; ++k) counters.one(x + i, k);
}

/// Counters of upper halves.
struct Upper {
  uint32_t *even, *odd;

  HWY_INLINE void one(const float* x, size_t i) const {
    ++*at_hand((i % 2 ? odd : even) + half_at(x + i, 2));
  }
  template <size_t... I>
  HWY_INLINE void vector(const float* x, std::index_sequence<I...>) const {
    ((I < hn::Lanes(Floats()) ? one(x, I) : void()), ...);
  }
  HWY_INLINE void count(const float* x, size_t n) const { each(x, n, *this); }
};

/// Counters of lower halves, as LowHalves::Way says.
template <LowHalves::Way kWay>
struct Lower {
  LowHalves& halves;
  uint8_t* HWY_RESTRICT counters = halves.counters();

  HWY_INLINE void one(const float* x, size_t i) const {
    const uint16_t code = half_at(x + i, 0);
    if constexpr (kWay == LowHalves::kTakenBack) {
      --counters[code];
    } else {
      const bool full = ++counters[code] == 0;
      if constexpr (kWay == LowHalves::kTested)
        if (HWY_UNLIKELY(full)) halves.wrapped(code);
    }
  }
  template <size_t... I>
  HWY_INLINE void vector(const float* x, std::index_sequence<I...>) const {
    ((I < hn::Lanes(Floats()) ? one(x, I) : void()), ...);
  }
  HWY_INLINE void count(const float* x, size_t n) const { each(x, n, *this); }
};

/// What is left over of vectors with many equal numbers, counted when there is much: how much each
/// leaves cannot be foreseen, and loops over so few would be mispredicted.
template <class Counters>
class Rest {
 public:
  static constexpr size_t kMany = 256;
  using Room = std::array<float, kMany + 32>;  // a vector more, and what a store may spoil

  Rest(Counters to, Room& room) : to_(to), numbers_(room.data()) {}
  template <class V, class M>
  HWY_INLINE void add(V v, M which) {
    hn::StoreU(hn::Compress(v, which), Floats(), numbers_ + n_);
    n_ += hn::CountTrue(Floats(), which);
    if (n_ >= kMany) count();
  }
  HWY_INLINE void count() {
    to_.count(numbers_, n_);
    n_ = 0;
  }

 private:
  Counters to_;
  float* numbers_;
  size_t n_ = 0;
};

/// Counts the upper halves of a vector at a time, as a whole where half of it or more is zeros of
/// both signs or equals its first number.
class UpperCounter {
 public:
  using Room = Rest<Upper>::Room;

  UpperCounter(Upper to, Room& room) : to_(to), rest_(to, room) {}
  HWY_INLINE void add(const float* x) {
    const Floats d;
    const Patterns du;
    const auto v = hn::LoadU(d, x);
    const auto zero = hn::Eq(v, hn::Zero(d)), often = hn::Or(zero, hn::Eq(v, hn::Set(d, *x)));
    zeros_ = hn::IfThenElse(hn::RebindMask(du, zero), hn::Add(zeros_, hn::Set(du, 1)), zeros_);
    const size_t same = hn::CountTrue(d, often), lanes = hn::Lanes(d);
    if (HWY_LIKELY(2 * same < lanes)) {
      to_.vector(x, Places());
      return;
    }
    const size_t here = hn::CountTrue(d, zero);
    repeated_ += here;
    patterns_ = hn::Or(patterns_, hn::BitCast(du, v));
    ++wholes_;
    negative_ += hn::CountTrue(du, hn::Eq(hn::BitCast(du, v), hn::Set(du, 0x80000000u)));
    if (same > here) to_.even[half_at(x, 2)] += static_cast<uint32_t>(same - here);
    if (same < lanes) rest_.add(v, hn::Not(often));
  }
  /// All zeros so far.
  HWY_INLINE size_t finish() {
    rest_.count();
    to_.even[0] += static_cast<uint32_t>(repeated_ - negative_);
    to_.even[kNegative] += static_cast<uint32_t>(negative_);
    return hn::GetLane(hn::SumOfLanes(Patterns(), zeros_));
  }
  /// Those of all numbers that were added, or more, where that costs more to know than it tells.
  HWY_INLINE uint32_t patterns(size_t added) const {
    const Patterns du;
    if (wholes_ * hn::Lanes(du) < added) return ~0u;
    HWY_ALIGN std::array<uint32_t, 16> all{};
    hn::Store(patterns_, du, all.data());
    uint32_t out = 0;
    for (const uint32_t p : all) out |= p;
    return out;
  }

 private:
  Upper to_;
  Rest<Upper> rest_;
  hn::Vec<Patterns> zeros_ = hn::Zero(Patterns());
  size_t repeated_ = 0, negative_ = 0;                 // repeated: zeros that are not counted yet
  hn::Vec<Patterns> patterns_ = hn::Zero(Patterns());  // of the vectors counted as wholes
  size_t wholes_ = 0;                                  // how many
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
  UpperCounter::Room room;
  UpperCounter counter({even, odd}, room);
  for (size_t i = 0; i < whole; i += step) {
    add(hn::PromoteTo(d, hn::LoadU(half, x + i)), c, a);
    add(hn::PromoteTo(d, hn::LoadU(half, x + i + lanes)), c, b);
    hwy::Prefetch(x + i + kAhead);
    for (size_t k = i; k < i + step; k += hn::Lanes(df)) {  // once, but without SIMD twice
      const auto v = hn::LoadU(df, x + k);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
      counter.add(x + k);
    }
  }
  BlockSums out;
  out.powers = {total(a.d1, b.d1), total(a.d2, b.d2), total(a.d3, b.d3), total(a.d4, b.d4)};
  out.l1 = total(a.l1, b.l1);
  out.min = static_cast<double>(hn::GetLane(hn::MinOfLanes(df, low)));
  out.max = static_cast<double>(hn::GetLane(hn::MaxOfLanes(df, high)));
  out.zeros = counter.finish();
  out.patterns = counter.patterns(whole);
  for (size_t i = whole; i < n; ++i) {
    out.add(static_cast<double>(x[i]), center);
    out.patterns |= OrderKeys<float>::bits(x[i]);
  }
  Upper{even, odd}.count(x + whole, n - whole);
  return out;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Where any of some bits is set; there it is one instruction.
template <class V>
HWY_INLINE auto any_of(V v, V bits) {
  return hn::TestBit(v, bits);
}
/// The bit of `word` that the lowest five bits of `code` tell, at the place of kHeld.
constexpr int kHeld = 20, kStored = kHeld;
template <class V>
HWY_INLINE V bit_of(V word, V code) {
  return V{_mm512_rorv_epi32(word.raw, code.raw)};
}
#else
template <class V>
HWY_INLINE auto any_of(V v, V bits) {
  return hn::Ne(hn::And(v, bits), hn::Zero(Patterns()));
}

constexpr int kHeld = 20, kStored = 0;
template <class V>
HWY_INLINE V bit_of(V word, V code) {
  return hn::ShiftLeft<kHeld>(hn::Shr(word, hn::And(code, hn::Set(Patterns(), 31))));
}
#endif

/// One bit for every bucket that is wanted, by the lowest bits of its code.
class Wanted {
 public:
  explicit Wanted(std::span<const uint16_t> buckets) {
    const Patterns d;
    HWY_ALIGN std::array<uint32_t, 16> words{};
    const size_t lanes = hn::Lanes(d);
    for (const uint16_t b : buckets) words[b / 32 % lanes] |= std::rotl(1u, b % 32 + kStored);
    words_ = hn::LoadU(d, words.data());
  }
  /// In the bit of kHeld; the others mean nothing.
  template <class V>
  HWY_INLINE V holds(V bits) const {
    const Patterns d;
    const auto at = hn::And(hn::ShiftRight<21>(bits), hn::Set(d, hn::Lanes(d) - 1));
    const auto word = hn::TableLookupLanes(words_, hn::IndicesFromVec(d, at));
    return bit_of(word, hn::ShiftRight<16>(bits));
  }

 private:
  hn::Vec<Patterns> words_;
};

/// Counts the lower halves of a vector at a time; those that are 0, as of zeros and of what was
/// bfloat16 before, as a whole.
template <LowHalves::Way kWay>
class LowerCounter {
 public:
  using Room = typename Rest<Lower<kWay>>::Room;

  LowerCounter(LowHalves& to, Room& room) : to_{to}, rest_(to_, room) {}
  template <class V>
  HWY_INLINE void add(const float* x, V v) {
    const Patterns du;
    const auto other = any_of(hn::BitCast(du, v), hn::Set(du, 0xffffu));
    if (HWY_UNLIKELY(!hn::AllTrue(du, other))) {
      const size_t lanes = hn::Lanes(du), zeros = lanes - hn::CountTrue(du, other);
      if (2 * zeros >= lanes) {
        zeros_ += zeros;
        if (zeros < lanes) rest_.add(v, hn::RebindMask(Floats(), other));
        return;
      }
    }
    to_.vector(x, Places());
  }
  /// After `n` numbers were added; the last `left` as well.
  HWY_INLINE void finish(size_t n, const float* x, size_t left) {
    to_.count(x, left);
    rest_.count();
    to_.halves.add_zeros(zeros_, n + left - zeros_, kWay);
  }

 private:
  Lower<kWay> to_;
  Rest<Lower<kWay>> rest_;
  size_t zeros_ = 0;
};
struct NoCounter {
  template <class V>
  HWY_INLINE void add(const float*, V) {}
  HWY_INLINE void finish(size_t, const float*, size_t) {}
};

// Of a float from 512 to 1024 the last bits, which are the fraction.
constexpr uint32_t kWithin = (1u << 14) - 1;

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
  const auto exponent = hn::Set(du, 0x7f800000u), within = hn::Set(du, kWithin);
  const auto held = hn::Set(du, 1u << kHeld);
  size_t i = 0, out = 0;
  for (; i + lanes <= n; i += lanes) {
    hwy::Prefetch(x + i + kAhead);
    const auto v = hn::LoadU(d, x + i);
    const auto bits = hn::BitCast(du, v);
    // The ends of the bucket; a negative number's first is the larger. Subnormal ones, which take
    // a processor a hundred cycles, are 0: the slack is far wider.
    const auto normal = any_of(bits, exponent);
    const auto near = hn::BitCast(d, hn::IfThenElseZero(normal, hn::And(bits, upper)));
    const auto far = hn::BitCast(d, hn::IfThenElseZero(normal, hn::Or(bits, lower)));
    const auto away = hn::CopySignToAbs(slack, v);
    const auto first_bin = hn::MulAdd(near, scale, hn::Sub(offset, away));
    const auto last_bin = hn::MulAdd(far, scale, hn::Add(offset, away));
    // Their bits from the one that is worth a bin: as floor would say, in fewer instructions.
    const auto apart = hn::Xor(hn::BitCast(du, first_bin), hn::BitCast(du, last_bin));
    const auto why = hn::OrAnd(apart, wanted.holds(bits), held);
    const auto which = hn::RebindMask(d, hn::Gt(why, within));
    hn::StoreU(hn::Compress(v, which), d, found + out);
    out += hn::CountTrue(d, which);
    halves.add(x + i, v);
  }
  halves.finish(i, x + i, n - i);
  for (; i < n; ++i) found[out++] = x[i];
  return out;
}

template <LowHalves::Way kWay>
size_t sift_and_count(const float* x, size_t n, const Sieve& sieve, float* found,
                      LowHalves& halves) {
  typename LowerCounter<kWay>::Room room;
  return sift(x, n, sieve, found, LowerCounter<kWay>(halves, room));
}
size_t second(const float* x, size_t n, const Sieve& sieve, float* found, LowHalves& halves) {
  switch (halves.way()) {
    case LowHalves::kUntested:
      return sift_and_count<LowHalves::kUntested>(x, n, sieve, found, halves);
    case LowHalves::kTakenBack:
      return sift_and_count<LowHalves::kTakenBack>(x, n, sieve, found, halves);
    default:
      return sift_and_count<LowHalves::kTested>(x, n, sieve, found, halves);
  }
}
size_t later(const float* x, size_t n, const Sieve& sieve, float* found) {
  return sift(x, n, sieve, found, NoCounter());
}

/// As is_bfloat16 in narrow.hpp.
bool bfloat16(const float* x, size_t n) {
  const Patterns d;
  const auto* bits = reinterpret_cast<const uint32_t*>(x);
  const auto lost = hn::Set(d, 0xffffu);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    if (!hn::AllFalse(d, hn::Ne(hn::And(hn::LoadU(d, bits + i), lost), hn::Zero(d)))) return false;
  return std::all_of(x + i, x + n, is_bfloat16);
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

/// n: a multiple of 64.
uint64_t sum(const uint8_t* x, size_t n) {
  const hn::CappedTag<uint8_t, 64> d;
  const hn::RepartitionToWide<hn::RepartitionToWide<hn::RepartitionToWide<decltype(d)>>> d64;
  auto all = hn::Zero(d64);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) all = hn::Add(all, hn::SumsOf8(hn::LoadU(d, x + i)));
  return hn::GetLane(hn::SumOfLanes(d64, all));
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(first);
HWY_EXPORT(second);
HWY_EXPORT(later);
HWY_EXPORT(half);
HWY_EXPORT(bfloat16);
HWY_EXPORT(sum);

// A bin's place in a float that goes from 512 to 1024, of which the last 14 bits are the fraction.
constexpr double kFirstPlace = 640;

/// Rounding errs by less than 2^-21 of what is added up.
Sieve bin_sieve(const EqualBins& bins, double min, double max, std::span<const uint16_t> buckets) {
  Sieve out;
  out.buckets = buckets;
  if (!bins.usable()) return out;
  const double scale = static_cast<double>(kBins) / (max - min);
  const double most = std::fmax(std::fabs(min), std::fabs(max)) * scale;
  const double slack = 0x1p-21 * (1024 + most);
  if (!(slack < 1 && scale < 1e30)) {  // too wide: all numbers are to be found
    out.slack = 256;
    return out;
  }
  out.scale = static_cast<float>(scale);
  out.offset = static_cast<float>(kFirstPlace - min * scale);
  out.slack = static_cast<float>(slack);
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
bool LowHalves::ran_over() const {
  return HWY_DYNAMIC_DISPATCH(sum)(counters_.data(), counters_.size()) != held_;
}
bool all_bfloat16(const float* x, size_t n) { return HWY_DYNAMIC_DISPATCH(bfloat16)(x, n); }
bool all_half(const float* x, size_t n) { return HWY_DYNAMIC_DISPATCH(half)(x, n); }

}  // namespace param_stats
#endif
