// float32 by vectors: against taking the numbers one by one, with NaN, infinities,
// subnormals and zeros of both signs where vectors begin and end, and wherever they lie in memory.
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "one_by_one.hpp"
#include "plugins/metrics/param_stats/float_looks.hpp"
#include "plugins/metrics/param_stats/order_keys.hpp"
#include "recorded.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

/// The i-th number of a tensor; r: a normal random number.
using Weights = float (*)(size_t i, float r);
struct Kind {
  const char* name;
  Weights pattern;
};

float with_bits(float x, uint32_t kept) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & kept);
}

constexpr Kind kKinds[]{
    {"normal", [](size_t, float r) { return r; }},
    {"far from zero", [](size_t, float r) { return 1000 + r; }},
    {"pruned", [](size_t i, float r) { return i * 2654435761u % 10 ? 0 * r : r; }},  // -0 as well
    {"half pruned", [](size_t i, float r) { return i / 100 % 2 ? 0.f : r; }},
    {"zeros", [](size_t, float) { return 0.f; }},
    {"zeros of both signs", [](size_t, float r) { return 0 * r; }},
    {"one number", [](size_t, float) { return 0.3f; }},
    {"two numbers", [](size_t i, float) { return i % 3 ? 0.3f : -7.f; }},
    {"bfloat16 before", [](size_t, float r) { return with_bits(r, 0xffff0000); }},
    {"float16 before", [](size_t, float r) { return with_bits(1 + std::fabs(r), 0xffffe000); }},
    {"few levels", [](size_t, float r) { return std::round(r * 2) * 0.1f; }},
    {"subnormal", [](size_t, float r) { return std::round(r * 1000) * kTiny; }},
    {"subnormal among normal", [](size_t i, float r) { return i % 16 ? r : r * 1e-40f; }},
    {"large", [](size_t, float r) { return r * 5e37f; }},
    {"NaN where vectors begin", [](size_t i, float r) { return i % 16 ? r : kNan; }},
    {"infinities where they end",
     [](size_t i, float r) { return i % 16 != 15 ? r
                                    : r < 0      ? -kInf
                                                 : kInf; }},
    {"NaN among zeros",
     [](size_t i, float) { return i % 40 ? 0.f : std::bit_cast<float>(0x7fc01234u); }},
    {"only NaN",
     [](size_t i, float) {
       return std::bit_cast<float>(0x7f800001u + static_cast<uint32_t>(i % 70000));
     }},
    {"infinity and bfloat16",
     [](size_t i, float r) { return i % 999 ? with_bits(r, 0xffff0000) : kInf; }},
};

std::vector<float> numbers_of(const Kind& kind, size_t n) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = kind.pattern(i, normal(random));
  return out;
}

using one_by_one::expect_all;
using one_by_one::finite;
using one_by_one::raw;

void expect_float32(const param_stats::Figures& f, const std::vector<float>& x) {
  expect_all(f, x);
  one_by_one::expect_bits(f, x);
}

TEST(Looks, FiguresOfFloatsAreThoseOfTheNumbersOneByOne) {
  instruction_sets::each([] {
    for (const auto& kind : kKinds) {
      for (const size_t n : {1025, 2047, 4096, 30011}) {
        SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(n));
        const auto x = numbers_of(kind, n);
        for (const int64_t chunk : {100000, 777})
          expect_float32(recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT32), raw(x), 3, chunk),
                         x);
      }
    }
  });
}

TEST(Looks, NumbersThatLieBetweenVectorsAreSeen) {
  // Chunks may begin at any multiple of four bytes, and end anywhere.
  instruction_sets::each([] {
    std::vector<uint32_t> even(65536), odd(65536);
    for (const auto& kind : kKinds) {
      const auto x = numbers_of(kind, 131);
      for (size_t first = 0; first < 17; ++first) {
        for (size_t n = 1; n + first <= x.size(); n += 1 + n / 3) {
          const auto sums =
              param_stats::first_look(x.data() + first, n, 0, even.data(), odd.data());
          uint64_t zeros = 0, seen = 0;
          for (size_t i = first; i < first + n; ++i) {
            zeros += x[i] == 0;
            auto& code = even[std::bit_cast<uint32_t>(x[i]) >> 16];
            code += odd[std::bit_cast<uint32_t>(x[i]) >> 16];
            odd[std::bit_cast<uint32_t>(x[i]) >> 16] = 0;
            seen += code > 0;
            code -= code > 0;
          }
          ASSERT_EQ(seen, n) << kind.name << " from " << first;
          if (std::isfinite(sums.powers.d1)) {
            ASSERT_EQ(sums.zeros, zeros) << kind.name << ' ' << n << " from " << first;
          }
        }
      }
    }
    EXPECT_EQ(std::count(even.begin(), even.end(), 0u), 65536);  // nothing else was counted
    EXPECT_EQ(std::count(odd.begin(), odd.end(), 0u), 65536);
  });
}

/// Buckets in which some numbers lie in one bin and some in another, by the bins' own edges.
bool has_an_edge(uint16_t bucket, const param_stats::EqualBins& bins, double min, double max) {
  const auto keys = param_stats::keys_of<float>(bucket);
  const double lo = std::clamp(param_stats::OrderKeys<float>::value(keys.lo), min, max);
  const double hi = std::clamp(param_stats::OrderKeys<float>::value(keys.hi), min, max);
  return bins.index(lo) != bins.index(hi);
}

TEST(Looks, TheSecondFindsEveryNumberThatIsSought) {
  instruction_sets::each([] {
    for (const auto& kind : kKinds) {
      const auto x = numbers_of(kind, 2045);
      const auto all = finite(x);
      if (all.empty()) continue;
      SCOPED_TRACE(kind.name);
      const double min = *std::min_element(all.begin(), all.end());
      const double max = *std::max_element(all.begin(), all.end());
      const param_stats::EqualBins bins(min, max);
      const std::vector<uint16_t> sought{param_stats::OrderKeys<float>::bucket(all[7]), 0x8000,
                                         0x4123};
      const auto sieve = param_stats::bin_sieve(bins, min, max, sought);
      std::vector<float> found(x.size() + param_stats::kSpare);
      param_stats::LowHalves halves;
      found.resize(param_stats::second_look(x.data(), x.size(), sieve, found.data(), halves));
      auto at = found.begin();
      for (const float v : x) {  // in their order
        const auto bucket = param_stats::OrderKeys<float>::bucket(v);
        const bool wanted =
            std::count(sought.begin(), sought.end(), bucket) ||
            (std::isfinite(v) && bins.usable() && has_an_edge(bucket, bins, min, max));
        if (at != found.end() && std::memcmp(&*at, &v, sizeof v) == 0)
          ++at;
        else
          ASSERT_FALSE(wanted) << v;
      }
      EXPECT_EQ(at, found.end());
      std::array<uint64_t, 256> low{}, high{}, seen_low, seen_high;
      for (const float v : x) {
        ++low[std::bit_cast<uint32_t>(v) & 0xff];
        ++high[(std::bit_cast<uint32_t>(v) >> 8) & 0xff];
      }
      halves.planes(seen_low, seen_high);
      EXPECT_EQ(seen_low, low);
      EXPECT_EQ(seen_high, high);
    }
  });
}

TEST(Looks, MoreThanAByteHoldsOfOneLowerHalfIsCounted) {
  instruction_sets::each([] {
    std::vector<float> x(100003);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::bit_cast<float>(0x3f800000u + static_cast<uint32_t>(i % 3) * 0x1357u);
    param_stats::LowHalves a, b;
    std::vector<float> found(x.size() + param_stats::kSpare);
    const param_stats::Sieve sieve{.scale = 0, .offset = 0.5f, .slack = 0, .buckets = {}};
    param_stats::second_look(x.data(), 60000, sieve, found.data(), a);
    param_stats::second_look(x.data() + 60000, 40003, sieve, found.data(), b);
    a.merge(b);
    std::array<uint64_t, 256> low, high;
    a.planes(low, high);
    EXPECT_EQ(low[0x00], 33335u);  // 100003 = 3 * 33334 + 1
    EXPECT_EQ(low[0x57], 33334u);
    EXPECT_EQ(low[0xae], 33334u);
    EXPECT_EQ(high[0x13], 33334u);
    EXPECT_EQ(high[0x26], 33334u);
  });
}

/// As a part of a tensor is counted: blocks of one look, in the stretches of LowHalves.
param_stats::LowHalves count_in_stretches(std::span<const float> x) {
  param_stats::LowHalves halves;
  std::vector<float> found(2048 + param_stats::kSpare);
  const auto look = [&](size_t begin, size_t end) {
    for (size_t n; begin < end; begin += n) {
      n = std::min<size_t>(end - begin, 2048);
      param_stats::second_look(x.data() + begin, n, {}, found.data(), halves);
    }
  };
  halves.count(x.size(), look, look);
  return halves;
}

void expect_lower_halves(std::span<const float> x) {
  std::array<uint64_t, 256> low{}, high{}, seen_low, seen_high;
  for (const float v : x) {
    ++low[std::bit_cast<uint32_t>(v) & 0xff];
    ++high[(std::bit_cast<uint32_t>(v) >> 8) & 0xff];
  }
  count_in_stretches(x).planes(seen_low, seen_high);
  EXPECT_EQ(seen_low, low);
  EXPECT_EQ(seen_high, high);
}

TEST(Looks, StretchesInWhichACounterRunsOverAreCountedAgain) {
  // 8,192 numbers, then 65,536 at a time are counted without a look at each counter.
  const auto random = numbers_of(kKinds[0], 300000);
  const auto filled = [&](size_t begin, size_t end, float v) {
    auto x = random;
    std::fill(x.begin() + static_cast<std::ptrdiff_t>(begin),
              x.begin() + static_cast<std::ptrdiff_t>(end), v);
    return x;
  };
  const float odd = std::bit_cast<float>(0x3f81ffffu);
  const std::vector<std::vector<float>> all{
      random,
      filled(0, 256, odd),           // exactly what a byte does not hold
      filled(100, 10000, odd),       // in the first stretch and in the next
      filled(8192, 300000, odd),     // after a first that was right
      filled(299000, 300000, kNan),  // in the last, which is shorter
      filled(5000, 290000, 0.f),     // counted as a whole, and taken back so
      filled(7777, 8900, -kInf),
      filled(70000, 140000, 0x1p-140f),
  };
  instruction_sets::each([&] {
    for (const auto& x : all)
      for (const size_t first : {0, 1, 7})
        for (const size_t left_out : {0, 1, 15, 299500})
          expect_lower_halves(
              std::span(x).subspan(first, x.size() - first - std::min(left_out, x.size() - first)));
  });
}

TEST(Looks, CountersThatFillSlowlyDoNotRunOver) {
  // 128 times each code: as often as none of a part of random numbers.
  std::vector<float> x(128 * 65536 + 5);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<float>(0x3f800000u + static_cast<uint32_t>(i * 40503 % 65536));
  expect_lower_halves(x);
}

TEST(Looks, FiguresOfDoublesAreThoseOfTheSameNumbersAsFloats) {
  for (const auto& kind : kKinds) {
    if (std::string(kind.name).find("NaN") != std::string::npos) continue;
    SCOPED_TRACE(kind.name);
    const auto x = numbers_of(kind, 5001);
    const std::vector<double> wide(x.begin(), x.end());
    const auto* p = reinterpret_cast<const uint8_t*>(wide.data());
    const auto f = recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT32), raw(x), 2, 1000);
    const auto d = recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT64),
                                     {p, p + wide.size() * sizeof(double)}, 2, 1000);
    EXPECT_EQ(d.counts, f.counts);
    EXPECT_EQ(d.near_zeros, f.near_zeros);
    EXPECT_EQ(d.zeros, f.zeros);
    EXPECT_EQ(d.quantiles, f.quantiles);
    EXPECT_EQ(d.min, f.min);
    EXPECT_EQ(d.max, f.max);
  }
}

}  // namespace
