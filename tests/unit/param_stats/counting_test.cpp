// Counting bit patterns by vectors: against adding one for each, wherever a vector ends and
// whatever repeats.
#include "plugins/metrics/param_stats/counting.hpp"

#include <cstring>
#include <random>
#include <vector>

#include "tests/unit/instruction_sets.hpp"

namespace {

/// One code of 16 bits by its place and a random number.
using Pattern = uint16_t (*)(size_t i, uint32_t random);

// What weights are made of: bfloat16 and float16 with zeros of both signs, NaN (0x7fc0), infinities
// (0x7f80), subnormals (1), runs of any number, few levels.
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

TEST(Counting, WordsAreCountedAsOneByOneWhateverRepeats) {
  instruction_sets::each([] {
    for (const auto pattern : kPatterns) {
      for (const size_t n : {0, 1, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 500, 4099, 70001}) {
        const auto codes = codes_of(pattern, n);
        for (size_t first = 0; first < std::min<size_t>(n, 3); ++first) {  // not aligned to vectors
          std::vector<uint32_t> even(65536), odd(65536);
          param_stats::count_words(reinterpret_cast<const uint8_t*>(codes.data() + first),
                                   n - first, even.data(), odd.data());
          std::vector<uint64_t> counts(65536);
          for (size_t i = 0; i < counts.size(); ++i) counts[i] = uint64_t{even[i]} + odd[i];
          ASSERT_EQ(counts, one_by_one(codes, first, 65536)) << n << " from " << first;
        }
      }
    }
  });
}

TEST(Counting, BytesAreCountedAsOneByOneWhateverRepeats) {
  instruction_sets::each([] {
    for (const auto pattern : kPatterns) {
      for (const size_t n : {0, 1, 7, 63, 64, 65, 129, 1000, 70001}) {
        const auto words = codes_of(pattern, n);
        const std::vector<uint8_t> bytes(words.begin(), words.end());
        for (size_t first = 0; first < std::min<size_t>(n, 3); ++first) {
          param_stats::ByteCounters counters{};
          param_stats::count_bytes(bytes.data() + first, n - first, counters);
          std::vector<uint64_t> counts(256);
          for (const auto& part : counters)
            for (size_t i = 0; i < part.size(); ++i) counts[i] += part[i];
          ASSERT_EQ(counts, one_by_one(bytes, first, 256)) << n << " from " << first;
        }
      }
    }
  });
}

}  // namespace
