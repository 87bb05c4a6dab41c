#include "histogram.hpp"

#include <algorithm>
#include <cstring>

namespace param_stats {
namespace {

constexpr size_t kCountedAtOnce = size_t{1} << 28;  // 32-bit counters cannot overflow

}  // namespace

void count_words(std::span<const uint8_t> bytes, Histogram16& to) {
  while (bytes.size() >= 2) {
    const size_t n = std::min(bytes.size() / 2, kCountedAtOnce);
    auto& tables = to.room(n);
    uint32_t *const even = tables[0].data(), *const odd = tables[1].data();
    const uint8_t* at = bytes.data();
    size_t i = 0;
    for (; i + 4 <= n; i += 4, at += 8) {
      uint64_t four;
      std::memcpy(&four, at, sizeof four);
      ++even[four & 0xffff];
      ++odd[(four >> 16) & 0xffff];
      ++even[(four >> 32) & 0xffff];
      ++odd[four >> 48];
    }
    for (; i < n; ++i, at += 2) ++even[at[0] | at[1] << 8];
    bytes = bytes.subspan(2 * n);
  }
}

void count_bytes(const uint8_t* at, size_t n, size_t step, Histogram8& to) {
  while (n > 0) {
    const size_t now = std::min(n, kCountedAtOnce);
    auto& [a, b, c, d] = to.room(now);
    size_t i = 0;
    for (; i + 4 <= now; i += 4, at += 4 * step) {
      ++a[at[0]];
      ++b[at[step]];
      ++c[at[2 * step]];
      ++d[at[3 * step]];
    }
    for (; i < now; ++i, at += step) ++a[*at];
    n -= now;
  }
}

double coded_bits(const Histogram8& bytes) {
  BytePlane plane{};
  bytes.each([&](uint16_t byte, uint64_t count) { plane[byte] = count; });
  return coded_bits(plane);
}

double coded_bits(const Histogram16& words) {
  BytePlane low{}, high{};
  words.each([&](uint16_t word, uint64_t count) {
    low[word & 0xff] += count;
    high[word >> 8] += count;
  });
  return coded_bits(low) + coded_bits(high);
}

}  // namespace param_stats
