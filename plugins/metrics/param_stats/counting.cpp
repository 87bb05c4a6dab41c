#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "counting.cpp"
#include "counting.hpp"

#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<uint16_t, 32>;
using Bytes = hn::CappedTag<uint8_t, 64>;

/// n: a multiple of 4.
HWY_INLINE void add_each(const uint8_t* at, size_t n, uint32_t* HWY_RESTRICT even,
                         uint32_t* HWY_RESTRICT odd) {
  for (size_t i = 0; i < n; i += 4, at += 8) {
    uint64_t four;
    std::memcpy(&four, at, 8);
    ++even[four & 0xffff];
    ++odd[(four >> 16) & 0xffff];
    ++even[(four >> 32) & 0xffff];
    ++odd[four >> 48];
  }
}

/// Codes that are left over of vectors with repeated ones, counted when there are many: how many
/// each vector leaves cannot be foreseen, and loops over so few would be mispredicted.
class Rest {
 public:
  Rest(uint32_t* even, uint32_t* odd) : even_(even), odd_(odd) {}
  template <class V, class M>
  HWY_INLINE void add(V v, M which) {
    n_ += hn::CompressStore(v, which, Words(), codes_.data() + n_);
    if (n_ >= kMany) count();
  }
  HWY_INLINE void count() {
    const size_t fours = n_ / 4 * 4;
    add_each(reinterpret_cast<const uint8_t*>(codes_.data()), fours, even_, odd_);
    for (size_t i = fours; i < n_; ++i) ++even_[codes_[i]];
    n_ = 0;
  }

 private:
  static constexpr size_t kMany = 512;
  uint32_t *even_, *odd_;
  size_t n_ = 0;
  std::array<uint16_t, kMany + 64> codes_;  // a vector more than many, and what a store may spoil
};

void words(const uint8_t* at, size_t n, uint32_t* HWY_RESTRICT even, uint32_t* HWY_RESTRICT odd) {
  const Words d;
  const size_t lanes = hn::Lanes(d);
  Rest rest(even, odd);
  size_t i = 0, zeros = 0, negative = 0;
  for (; i + lanes <= n; i += lanes, at += 2 * lanes) {
    const auto* codes = reinterpret_cast<const uint16_t*>(at);
    const auto v = hn::LoadU(d, codes);
    const auto zero = hn::Eq(hn::Add(v, v), hn::Zero(d));  // +0 and -0
    const auto often = hn::Or(zero, hn::Eq(v, hn::Set(d, *codes)));
    const size_t same = hn::CountTrue(d, often);
    if (2 * same < lanes) {
      add_each(at, lanes, even, odd);
      continue;
    }
    const size_t here = hn::CountTrue(d, zero);
    zeros += here;
    negative += hn::CountTrue(d, hn::Eq(v, hn::Set(d, 0x8000)));
    if (same > here) even[*codes] += static_cast<uint32_t>(same - here);
    if (same < lanes) rest.add(v, hn::Not(often));
  }
  rest.count();
  even[0] += static_cast<uint32_t>(zeros - negative);
  even[0x8000] += static_cast<uint32_t>(negative);
  for (; i < n; ++i, at += 2) {
    uint16_t one;
    std::memcpy(&one, at, 2);
    ++even[one];
  }
}

void bytes(const uint8_t* at, size_t n, ByteCounters& counters) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes, at += lanes) {
    const auto v = hn::LoadU(d, at);
    if (hn::AllTrue(d, hn::Eq(v, hn::Set(d, *at)))) {
      counters[0][*at] += static_cast<uint32_t>(lanes);
      continue;
    }
    for (size_t k = 0; k < lanes; k += 8)
      for (size_t c = 0; c < counters.size(); ++c) ++counters[c][at[k + c]];
  }
  for (; i < n; ++i, ++at) ++counters[0][*at];
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(words);
HWY_EXPORT(bytes);

void count_words(const uint8_t* codes, size_t n, uint32_t* even, uint32_t* odd) {
  HWY_DYNAMIC_DISPATCH(words)(codes, n, even, odd);
}
void count_bytes(const uint8_t* bytes, size_t n, ByteCounters& counters) {
  HWY_DYNAMIC_DISPATCH(bytes)(bytes, n, counters);
}

}  // namespace param_stats
#endif
