// Histograms of bit patterns against a loop that adds one per element, for any repetition.
#include "plugins/metrics/param_stats/histogram.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

/// A 16-bit code from its position and a random number.
using Pattern = uint16_t (*)(size_t i, uint32_t random);

// Patterns of weights: bfloat16 and float16 with zeros of both signs, NaN (0x7fc0), infinities
// (0x7f80), subnormals (1), runs of one element, few levels.
constexpr Pattern kPatterns[]{
    [](size_t, uint32_t) { return uint16_t{0}; },
    [](size_t, uint32_t) { return uint16_t{0x8000}; },
    [](size_t, uint32_t) { return uint16_t{0x3f80}; },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r); },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r % 2 ? 0x8000 : 0); },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r % 10 ? 0 : r >> 16); },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r % 2 ? 0 : r >> 16); },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r % 3 ? 0x3f80 : r >> 16); },
    [](size_t i, uint32_t) { return static_cast<uint16_t>(i / 40); },
    [](size_t i, uint32_t r) { return static_cast<uint16_t>(i / 90 % 2 ? 0 : r); },
    [](size_t i, uint32_t) { return static_cast<uint16_t>(i % 32 == 31 ? 0x7fc0 : 0); },
    [](size_t i, uint32_t) { return static_cast<uint16_t>(i % 32 == 0 ? 0x7f80 : 1); },
    [](size_t, uint32_t r) { return static_cast<uint16_t>(r % 4); },
};

std::vector<uint16_t> codes_of(Pattern pattern, size_t n) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::vector<uint16_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = pattern(i, static_cast<uint32_t>(random()));
  return out;
}

template <class Code>
std::vector<uint64_t> one_by_one(const std::vector<Code>& codes, size_t first, size_t kinds) {
  std::vector<uint64_t> counts(kinds);
  for (size_t i = first; i < codes.size(); ++i) ++counts[codes[i]];
  return counts;
}

template <class Histogram>
std::vector<uint64_t> counts_of(const Histogram& histogram) {
  std::vector<uint64_t> counts(Histogram::kPatterns);
  histogram.each([&](uint16_t pattern, uint64_t count) { counts[pattern] = count; });
  return counts;
}

std::span<const uint8_t> bytes_of(const std::vector<uint16_t>& codes) {
  return {reinterpret_cast<const uint8_t*>(codes.data()), 2 * codes.size()};
}

TEST(Histogram, WordsOfAnyPatternAreCountedAsOneByOne) {
  for (const auto pattern : kPatterns) {
    for (const size_t n : {0, 1, 3, 7, 8, 33, 500, 4099, 70001}) {
      const auto codes = codes_of(pattern, n);
      param_stats::Histogram16 histogram;
      param_stats::count_words(bytes_of(codes), histogram);
      ASSERT_EQ(counts_of(histogram), one_by_one(codes, 0, 65536)) << n;
    }
  }
}

TEST(Histogram, BytesAreCountedAtEveryStep) {
  for (const auto pattern : kPatterns) {
    for (const size_t n : {0, 1, 7, 64, 1000, 7001}) {
      const auto words = codes_of(pattern, 8 * n);
      const std::vector<uint8_t> bytes(words.begin(), words.end());
      for (const size_t step : {1, 2, 4, 8}) {
        std::vector<uint8_t> taken;
        for (size_t i = 0; i < n; ++i) taken.push_back(bytes[i * step]);
        param_stats::Histogram8 histogram;
        param_stats::count_bytes(bytes.data(), n, step, histogram);
        ASSERT_EQ(counts_of(histogram), one_by_one(taken, 0, 256)) << n << " by " << step;
      }
    }
  }
}

TEST(Histogram, MergedHistogramsAddUp) {
  const auto codes = codes_of(kPatterns[5], 10000);
  param_stats::Histogram16 all, merged;
  param_stats::count_words(bytes_of(codes), all);
  for (const size_t first : {0, 2500, 5000, 7500}) {
    param_stats::Histogram16 part;
    param_stats::count_words(bytes_of(codes).subspan(2 * first, 5000), part);
    merged.merge(part);
    EXPECT_EQ(part[codes[first]], counts_of(part)[codes[first]]);  // unchanged
  }
  EXPECT_EQ(counts_of(merged), counts_of(all));
}

TEST(Histogram, CountsBeyond32BitsAreKept) {
  // Callers announce the number of elements, so that room is made before a counter could overflow.
  param_stats::Histogram8 histogram;
  for (int i = 0; i < 3; ++i) histogram.room(0xffffffffu)[0][7] += 0xffffffffu;
  EXPECT_EQ(histogram[7], 3 * uint64_t{0xffffffffu});
  param_stats::Histogram8 other;
  other.merge(histogram);
  EXPECT_EQ(other[7], 3 * uint64_t{0xffffffffu});
}

TEST(Histogram, CodedBitsAreElementsTimesEntropy) {
  param_stats::BytePlane plane{};
  plane[3] = plane[200] = 8;
  EXPECT_DOUBLE_EQ(param_stats::coded_bits(plane), 16);  // 16 elements, 1 bit each
  plane[200] = 0;
  EXPECT_DOUBLE_EQ(param_stats::coded_bits(plane), 0);
}

}  // namespace
