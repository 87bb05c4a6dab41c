// Types of more than 16 bits against plain loops, with NaN, infinities, subnormals, zeros of both
// signs, ties, and values at the edges of bins.
#include <algorithm>
#include <limits>
#include <random>

#include "one_by_one.hpp"
#include "plugins/metrics/param_stats/selection_pass.hpp"
#include "recorded.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

/// The i-th element of a tensor; r: a normal random number.
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

void expect_float32(const param_stats::Statistics& f, const std::vector<float>& x) {
  expect_all(f, x);
  one_by_one::expect_bits(f, x);
}

TEST(WideTensors, StatisticsOfFloatsAreThoseOfStraightforwardLoops) {
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

TEST(WideTensors, StatisticsOfDoublesAreThoseOfTheSameValuesAsFloats) {
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

constexpr double kDoubleInf = std::numeric_limits<double>::infinity();
constexpr double kDoubleNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDoubleTiny = std::numeric_limits<double>::denorm_min();

/// The i-th element; r: a normal random number, n: a random one of 64 bits.
template <class T>
struct KindOf {
  const char* name;
  T (*number)(size_t i, double r, int64_t n);
};

constexpr KindOf<double> kReal[]{
    {"normal", [](size_t, double r, int64_t) { return r; }},
    {"far from zero", [](size_t, double r, int64_t) { return 1e9 + r; }},
    {"so far that bins are a few steps wide",
     [](size_t, double, int64_t n) { return 1e9 + static_cast<double>(n & 0xfff) * 0x1p-23; }},
    {"pruned", [](size_t i, double r, int64_t) { return i * 2654435761u % 10 ? 0 * r : r; }},
    {"zeros", [](size_t, double, int64_t) { return 0.0; }},
    {"one number", [](size_t, double, int64_t) { return 0.3; }},
    {"on the edges of bins", [](size_t, double, int64_t n) { return double(n & 0x1ff) / 2; }},
    {"beside the edges",
     [](size_t i, double, int64_t n) {
       return std::nextafter(double(n & 0x1ff) / 2, i % 2 ? -1 : 300);
     }},
    {"float32 before", [](size_t, double r, int64_t) { return double(float(r)); }},
    {"subnormal", [](size_t, double r, int64_t) { return std::round(r * 1000) * kDoubleTiny; }},
    {"small", [](size_t, double r, int64_t) { return r * 1e-140; }},
    {"large", [](size_t, double r, int64_t) { return r * 1e140; }},
    {"beyond float32 on both sides",
     [](size_t i, double r, int64_t) { return i % 2 ? r * 1e60 : r * 1e-60; }},
    {"NaN and infinities",
     [](size_t i, double r, int64_t) {
       return i % 8 == 0 ? kDoubleNan : i % 8 == 7 ? std::copysign(kDoubleInf, r) : r;
     }},
    {"only NaN", [](size_t, double, int64_t) { return kDoubleNan; }},
};

constexpr KindOf<int64_t> kWhole[]{
    {"all bits", [](size_t, double, int64_t n) { return n; }},
    {"as many as words in a vocabulary", [](size_t, double, int64_t n) { return n & 0x7fff; }},
    {"normal", [](size_t, double r, int64_t) { return std::lround(r * 1e6); }},
    {"bytes", [](size_t, double, int64_t n) { return n & 0xff; }},
    {"a power of two and one",
     [](size_t, double, int64_t n) { return n & 0x200 ? n & 0x1ff : 512; }},
    {"negative", [](size_t, double, int64_t n) { return -1 - (n & 0xfffff); }},
    {"positions", [](size_t i, double, int64_t) { return static_cast<int64_t>(i); }},
    {"one number", [](size_t, double, int64_t) { return int64_t{-7}; }},
    {"zeros but one", [](size_t i, double, int64_t) { return int64_t{i == 4321}; }},
    {"extremes", [](size_t i, double, int64_t) { return i % 3 ? INT64_MAX : INT64_MIN; }},
};

template <class T>
std::vector<T> numbers_of(const KindOf<T>& kind, size_t n) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  std::vector<T> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = kind.number(i, normal(random), static_cast<int64_t>(random()));
  return out;
}

template <class Stored>
void expect_statistics(int32_t dtype, const std::vector<Stored>& x, int64_t chunk) {
  const auto f = recorded::analyse(tmeter::DType(dtype), one_by_one::raw(x), 3, chunk);
  expect_all(f, std::vector<double>(x.begin(), x.end()));
  one_by_one::expect_bits(f, x);
}

constexpr size_t kSizes[]{1025, 4099, 40013};

TEST(WideTensors, StatisticsOfDoublesAreThoseOfStraightforwardLoops) {
  instruction_sets::each([] {
    for (const auto& kind : kReal) {
      for (const size_t n : kSizes) {
        SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(n));
        const auto x = numbers_of(kind, n);
        for (const int64_t chunk : {100000, 777}) expect_statistics(TMETER_DTYPE_FLOAT64, x, chunk);
      }
    }
  });
}

TEST(WideTensors, StatisticsOfIntegersAreThoseOfStraightforwardLoops) {
  instruction_sets::each([] {
    for (const auto& kind : kWhole) {
      for (const size_t n : kSizes) {
        SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(n));
        const auto x = numbers_of(kind, n);
        for (const int64_t chunk : {100000, 777}) {
          expect_statistics(TMETER_DTYPE_INT64, x, chunk);
          expect_statistics(TMETER_DTYPE_UINT64, std::vector<uint64_t>(x.begin(), x.end()), chunk);
          expect_statistics(TMETER_DTYPE_INT32, std::vector<int32_t>(x.begin(), x.end()), chunk);
          expect_statistics(TMETER_DTYPE_UINT32, std::vector<uint32_t>(x.begin(), x.end()), chunk);
        }
      }
    }
  });
}

template <class T>
void expect_filtered(const std::vector<T>& x) {
  param_stats::SelectionPlan plan;
  const auto bucket_of = [](T v) { return param_stats::OrderKeys<T>::bucket(v); };
  for (const T ranked : {x[0], x[7], T{-0.0f}})
    plan.add_task(bucket_of(ranked), param_stats::kRanked);
  std::vector<T> expected, found(x.size());
  for (const T v : x)
    if ((*plan.buckets)[bucket_of(v)].tasks) expected.push_back(v);
  found.resize(param_stats::BucketFilter(plan).filter(std::span<const T>(x), found.data()));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (!std::isnan(found[i])) {
      EXPECT_EQ(found[i], expected[i]);
    }
}

TEST(WideTensors, AFilterKeepsTheValuesOfItsBucketsInTheirOrder) {
  for (const auto& kind : kKinds) expect_filtered(numbers_of(kind, 2045));
  for (const auto& kind : kReal) expect_filtered(numbers_of(kind, 2045));
}

TEST(WideTensors, ABucketHoldsTheKeysOfItsValues) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const auto x = std::bit_cast<double>(random());
    if (!std::isfinite(x)) continue;
    using Keys = param_stats::OrderKeys<double>;
    const auto range = param_stats::keys_of<double>(Keys::bucket(x));
    EXPECT_LE(range.lo, Keys::key(x));
    EXPECT_GE(range.hi, Keys::key(x));
    EXPECT_EQ(Keys::value(Keys::key(x)), x);
  }
}

}  // namespace
