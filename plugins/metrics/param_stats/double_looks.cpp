#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "double_looks.cpp"
#include "double_looks.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <array>
#include <cmath>

#include "order_keys.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Keys = hn::RebindToSigned<Doubles>;
using Patterns = hn::RebindToUnsigned<Doubles>;

constexpr size_t kAhead = 2048;  // bytes to be asked of the memory in time

HWY_INLINE hn::Vec<Doubles> as_doubles(hn::Vec<hn::Rebind<int32_t, Doubles>> v) {
  return hn::PromoteTo(Doubles(), v);
}
HWY_INLINE hn::Vec<Doubles> as_doubles(hn::Vec<Keys> v) { return hn::ConvertTo(Doubles(), v); }

template <class T>
void widened(const T* HWY_RESTRICT x, size_t n, double* HWY_RESTRICT out) {
  const hn::Rebind<T, Doubles> from;
  const size_t lanes = hn::Lanes(from);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hwy::Prefetch(x + i + kAhead / sizeof(T));
    hn::StoreU(as_doubles(hn::LoadU(from, x + i)), Doubles(), out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<double>(x[i]);
}
void widened_32(const int32_t* x, size_t n, double* out) { widened(x, n, out); }
void widened_64(const int64_t* x, size_t n, double* out) { widened(x, n, out); }

/// The buckets of a vector, one a lane.
HWY_INLINE hn::Vec<Keys> buckets_in(const double* x) {
  using Order = OrderKeys<double>;
  const Keys d;
  const Patterns du;
  const auto sign = hn::Set(d, INT64_MIN);
  const auto bits = hn::BitCast(d, hn::LoadU(Doubles(), x));
  const auto at =
      hn::Sub(hn::ShiftRight<Order::kShift>(hn::AndNot(sign, bits)), hn::Set(d, Order::kFirst));
  const auto kept = hn::Min(hn::Max(at, hn::Zero(d)), hn::Set(d, int64_t{kLastBucket}));
  const auto negative = hn::ShiftRight<48>(hn::BitCast(du, hn::And(bits, sign)));
  return hn::Or(kept, hn::BitCast(d, negative));
}

void buckets(const double* HWY_RESTRICT x, size_t n, uint16_t* HWY_RESTRICT out) {
  const hn::Rebind<uint16_t, Doubles> codes;
  const size_t lanes = hn::Lanes(codes);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::TruncateTo(codes, hn::BitCast(Patterns(), buckets_in(x + i))), codes, out + i);
  for (; i < n; ++i) out[i] = OrderKeys<double>::bucket(x[i]);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Highway's own goes by a table, which gcc copies to the stack each time.
template <class V, class M>
HWY_INLINE V packed(V v, M which) {
  return V{_mm512_maskz_compress_pd(which.raw, v.raw)};
}
#else
template <class V, class M>
HWY_INLINE V packed(V v, M which) {
  return hn::Compress(v, which);
}
#endif

/// One bit for every bucket that is wanted, by the lowest bits of its code.
class Wanted {
 public:
  explicit Wanted(std::span<const uint16_t> buckets) {
    const Patterns d;
    HWY_ALIGN std::array<uint64_t, 8> words{};
    for (const uint16_t b : buckets) words[b / 64 % hn::Lanes(d)] |= uint64_t{1} << b % 64;
    words_ = hn::Load(d, words.data());
  }
  HWY_INLINE auto holds(hn::Vec<Keys> buckets) const {
    const Patterns d;
    const auto code = hn::BitCast(d, buckets);
    const auto at = hn::And(hn::ShiftRight<6>(code), hn::Set(d, hn::Lanes(d) - 1));
    const auto word = hn::TableLookupLanes(words_, hn::IndicesFromVec(d, at));
    const auto bit = hn::Shr(word, hn::And(code, hn::Set(d, 63)));
    return hn::Ne(hn::And(bit, hn::Set(d, 1)), hn::Zero(d));
  }

 private:
  hn::Vec<Patterns> words_;
};

size_t sift(const double* HWY_RESTRICT x, size_t n, std::span<const uint16_t> buckets,
            double* HWY_RESTRICT found) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  const Wanted wanted(buckets);
  size_t i = 0, out = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto which = hn::RebindMask(d, wanted.holds(buckets_in(x + i)));
    hn::StoreU(packed(hn::LoadU(d, x + i), which), d, found + out);
    out += hn::CountTrue(d, which);
  }
  for (; i < n; ++i) found[out++] = x[i];
  return out;
}

/// By the edges. True if there is one.
HWY_INLINE bool exact_bin(double x, const EqualBins& bins, uint8_t& out) {
  const bool finite = OrderKeys<double>::finite(x);
  out = finite ? static_cast<uint8_t>(bins.index(x)) : 0;
  return finite;
}

size_t binned(const double* HWY_RESTRICT x, size_t n, const EqualBins& bins,
              uint8_t* HWY_RESTRICT out) {
  const Doubles d;
  const hn::Rebind<int32_t, Doubles> d32;
  const hn::Rebind<uint8_t, Doubles> d8;
  const auto guess = bins.guess();
  const auto min = hn::Set(d, guess.min), scale = hn::Set(d, guess.scale);
  const auto least = hn::Set(d, guess.slack), most = hn::Set(d, 1 - guess.slack);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0, infinite = 0;
  for (; i + lanes <= n; i += lanes) {
    hwy::Prefetch(x + i + kAhead / sizeof *x);
    const auto place = hn::Mul(hn::Sub(hn::LoadU(d, x + i), min), scale);
    const auto whole = hn::Floor(place), within = hn::Sub(place, whole);
    // Not so of NaN, which infinities have become.
    const auto sure = hn::And(hn::Gt(within, least), hn::Lt(within, most));
    hn::StoreU(hn::DemoteTo(d8, hn::DemoteTo(d32, whole)), d8, out + i);
    if (HWY_LIKELY(hn::AllTrue(d, sure))) continue;
    for (size_t k = i; k < i + lanes; ++k) infinite += !exact_bin(x[k], bins, out[k]);
  }
  for (; i < n; ++i) infinite += !exact_bin(x[i], bins, out[i]);
  return infinite;
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(widened_32);
HWY_EXPORT(widened_64);
HWY_EXPORT(buckets);
HWY_EXPORT(sift);
HWY_EXPORT(binned);

void widen(const int32_t* x, size_t n, double* out) { HWY_DYNAMIC_DISPATCH(widened_32)(x, n, out); }
void widen(const int64_t* x, size_t n, double* out) { HWY_DYNAMIC_DISPATCH(widened_64)(x, n, out); }
void buckets_of(const double* x, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(buckets)(x, n, out);
}
size_t of_buckets(const double* x, size_t n, std::span<const uint16_t> buckets, double* found) {
  return HWY_DYNAMIC_DISPATCH(sift)(x, n, buckets, found);
}
size_t bins_of(const double* x, size_t n, const EqualBins& bins, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(binned)(x, n, bins, out);
}

}  // namespace param_stats
#endif
