// float64 and integers by vectors: against taking the numbers one by one.
#include "plugins/metrics/param_stats/double_looks.hpp"

#include <cstring>
#include <limits>
#include <random>

#include "one_by_one.hpp"
#include "plugins/metrics/param_stats/float_looks.hpp"
#include "plugins/metrics/param_stats/order_keys.hpp"
#include "recorded.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace double_looks {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

/// The i-th number; r: a normal random number, n: a random one of 64 bits.
template <class T>
struct Kind {
  const char* name;
  T (*number)(size_t i, double r, int64_t n);
};

constexpr Kind<double> kReal[]{
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
    {"subnormal", [](size_t, double r, int64_t) { return std::round(r * 1000) * kTiny; }},
    {"small", [](size_t, double r, int64_t) { return r * 1e-140; }},
    {"large", [](size_t, double r, int64_t) { return r * 1e140; }},
    {"beyond float32 on both sides",
     [](size_t i, double r, int64_t) { return i % 2 ? r * 1e60 : r * 1e-60; }},
    {"NaN and infinities",
     [](size_t i, double r, int64_t) {
       return i % 8 == 0 ? kNan : i % 8 == 7 ? std::copysign(kInf, r) : r;
     }},
    {"only NaN", [](size_t, double, int64_t) { return kNan; }},
};

constexpr Kind<int64_t> kWhole[]{
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
std::vector<T> numbers_of(const Kind<T>& kind, size_t n) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  std::vector<T> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = kind.number(i, normal(random), static_cast<int64_t>(random()));
  return out;
}

template <class Stored>
void expect_figures(int32_t dtype, const std::vector<Stored>& x, int64_t chunk) {
  const auto f = recorded::analyse(tmeter::DType(dtype), one_by_one::raw(x), 3, chunk);
  one_by_one::expect_all(f, std::vector<double>(x.begin(), x.end()));
  one_by_one::expect_bits(f, x);
}

constexpr size_t kSizes[]{1025, 4099, 40013};  // the last: bytes are counted two at a time

TEST(DoubleLooks, FiguresOfDoublesAreThoseOfTheNumbersOneByOne) {
  instruction_sets::each([] {
    for (const auto& kind : kReal) {
      for (const size_t n : kSizes) {
        SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(n));
        const auto x = numbers_of(kind, n);
        for (const int64_t chunk : {100000, 777}) expect_figures(TMETER_DTYPE_FLOAT64, x, chunk);
      }
    }
  });
}

TEST(DoubleLooks, FiguresOfIntegersAreThoseOfTheNumbersOneByOne) {
  instruction_sets::each([] {
    for (const auto& kind : kWhole) {
      for (const size_t n : kSizes) {
        SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(n));
        const auto x = numbers_of(kind, n);
        for (const int64_t chunk : {100000, 777}) {
          expect_figures(TMETER_DTYPE_INT64, x, chunk);
          expect_figures(TMETER_DTYPE_UINT64, std::vector<uint64_t>(x.begin(), x.end()), chunk);
          expect_figures(TMETER_DTYPE_INT32, std::vector<int32_t>(x.begin(), x.end()), chunk);
          expect_figures(TMETER_DTYPE_UINT32, std::vector<uint32_t>(x.begin(), x.end()), chunk);
        }
      }
    }
  });
}

TEST(DoubleLooks, EveryNumberIsInTheBinThatTheEdgesSay) {
  instruction_sets::each([] {
    for (const auto& kind : kReal) {
      SCOPED_TRACE(kind.name);
      const auto x = numbers_of(kind, 3001);
      const auto all = one_by_one::finite(x);
      if (all.empty()) continue;
      const auto [min, max] = std::minmax_element(all.begin(), all.end());
      const param_stats::EqualBins bins(*min, *max);
      if (!bins.usable()) continue;
      for (size_t first = 0; first < 9; ++first) {
        std::vector<uint8_t> seen(x.size() - first), wanted;
        size_t infinite = 0;
        for (size_t i = first; i < x.size(); ++i) {
          const bool finite = std::isfinite(x[i]);
          infinite += !finite;
          const auto after = std::upper_bound(bins.edges().begin(), bins.edges().end(), x[i]);
          const auto bin = std::min(after - bins.edges().begin(), std::ptrdiff_t{256}) - 1;
          wanted.push_back(finite ? static_cast<uint8_t>(bin) : 0);
        }
        ASSERT_EQ(param_stats::bins_of(x.data() + first, seen.size(), bins, seen.data()), infinite);
        ASSERT_EQ(seen, wanted);
      }
    }
  });
}

TEST(DoubleLooks, AllNumbersOfABucketAreFoundInTheirOrder) {
  instruction_sets::each([] {
    for (const auto& kind : kReal) {
      SCOPED_TRACE(kind.name);
      const auto x = numbers_of(kind, 2045);
      const auto bucket_of = [](double v) { return param_stats::OrderKeys<double>::bucket(v); };
      const std::vector<uint16_t> sought{bucket_of(x[7]), 0x8000, 0x4123};
      std::vector<double> found(x.size() + param_stats::kSpare);
      found.resize(param_stats::of_buckets(x.data(), x.size(), sought, found.data()));
      auto at = found.begin();
      for (const double v : x) {
        if (at != found.end() && std::memcmp(&*at, &v, sizeof v) == 0)
          ++at;
        else
          ASSERT_FALSE(std::count(sought.begin(), sought.end(), bucket_of(v))) << v;
      }
      EXPECT_EQ(at, found.end());
    }
  });
}

TEST(DoubleLooks, IntegersAreRoundedToTheNearestDouble) {
  instruction_sets::each([] {
    for (const auto& kind : kWhole) {
      const auto wide = numbers_of(kind, 1003);
      const std::vector<int32_t> narrow(wide.begin(), wide.end());
      for (size_t first = 0; first < 9; ++first) {
        const size_t n = wide.size() - first;
        std::vector<double> of_wide(n), of_narrow(n);
        param_stats::widen(wide.data() + first, n, of_wide.data());
        param_stats::widen(narrow.data() + first, n, of_narrow.data());
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(of_wide[i], static_cast<double>(wide[first + i]));
          ASSERT_EQ(of_narrow[i], static_cast<double>(narrow[first + i]));
        }
      }
    }
  });
}

TEST(DoubleLooks, BucketsOfDoublesAreThoseOneByOne) {
  instruction_sets::each([] {
    std::mt19937_64 random(1);
    std::vector<double> x;
    for (int i = 0; i < 1000; ++i) x.push_back(std::bit_cast<double>(random()));
    for (const double v : {0.0, -0.0, 1e-310, -1e-310, 1e300, -1e300, 3.4e38, 1.2e-38})
      x.push_back(v);
    for (const double v : {kInf, -kInf, kNan}) x.push_back(v);
    for (size_t first = 0; first < 9; ++first) {
      std::vector<uint16_t> seen(x.size() - first), wanted;
      for (size_t i = first; i < x.size(); ++i)
        wanted.push_back(param_stats::OrderKeys<double>::bucket(x[i]));
      param_stats::buckets_of(x.data() + first, seen.size(), seen.data());
      ASSERT_EQ(seen, wanted);
    }
  });
}

}  // namespace
}  // namespace double_looks
