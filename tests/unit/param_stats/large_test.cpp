// Tensors too large to select order statistics in one pass, against sorting all elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "recorded.hpp"

namespace {

using param_stats::Statistics;

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& v) {
  const auto* p = reinterpret_cast<const uint8_t*>(v.data());
  return {p, p + v.size() * sizeof(T)};
}

/// NumPy's quantiles, by sorting: x[i] + (x[i + 1] - x[i]) * t, from the nearer end.
template <class T>
void expect_quantiles(const Statistics& f, std::vector<T> x) {
  std::sort(x.begin(), x.end());
  for (size_t q = 0; q < param_stats::kQuantiles.size(); ++q) {
    const double at = param_stats::kQuantiles[q] * static_cast<double>(x.size() - 1);
    const auto i = static_cast<size_t>(at);
    const double lower = static_cast<double>(x[i]),
                 upper = static_cast<double>(x[std::min(i + 1, x.size() - 1)]);
    EXPECT_NEAR(f.quantiles[q], lower + (upper - lower) * (at - static_cast<double>(i)),
                1e-12 * std::fabs(upper));
  }
}

TEST(Large, QuantilesAreExactWhereAMillionFloatsShareTheirFirstDigits) {
  // All in one bucket of 65,536 neighbouring floats, most of them repeated.
  std::mt19937 random(1);
  std::vector<float> x(1000000);
  for (auto& v : x) v = 1.0f + static_cast<float>(random() % 60000) * 0x1p-23f;
  int passes = 0;
  const auto f =
      recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT32), bytes_of(x), 5, 65536, 0.01, &passes);
  expect_quantiles(f, x);
  EXPECT_EQ(passes, 2);
}

TEST(Large, QuantilesAreExactWhereDoublesDifferInTheirLastDigitsOnly) {
  std::mt19937_64 random(2);
  std::vector<double> x(600000);
  for (auto& v : x) v = -1.0 - static_cast<double>(random() % (1u << 30)) * 0x1p-52;
  int passes = 0;
  const auto f =
      recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT64), bytes_of(x), 3, 32768, 0.01, &passes);
  expect_quantiles(f, x);
  EXPECT_LE(passes, 8);  // the host's limit
}

TEST(Large, QuantilesOfIntegersAreExact) {
  std::mt19937 random(3);
  std::vector<int32_t> x(700000);
  for (auto& v : x) v = static_cast<int32_t>(random());
  const auto f = recorded::analyse(tmeter::DType(TMETER_DTYPE_INT32), bytes_of(x), 4, 65536);
  expect_quantiles(f, x);
}

TEST(Large, AnEqualTensorNeedsNoSecondPass) {
  const std::vector<float> x(400000, 0.25f);
  int passes = 0;
  const auto f =
      recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT32), bytes_of(x), 3, 65536, 0.01, &passes);
  EXPECT_EQ(passes, 1);
  EXPECT_EQ(f.moments.average(), 0.25);
  EXPECT_EQ(f.moments.deviation(), 0);
  for (const double q : f.quantiles) EXPECT_EQ(q, 0.25);
}

TEST(Large, ThePiecesOfATensorDoNotChangeTheCounts) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> x(300000);
  for (auto& v : x) v = normal(random);
  const tmeter::DType type(TMETER_DTYPE_FLOAT32);
  const auto one = recorded::analyse(type, bytes_of(x), 1, 300000);
  const auto many = recorded::analyse(type, bytes_of(x), 9, 777);
  EXPECT_EQ(one.counts, many.counts);
  EXPECT_EQ(one.near_zeros, many.near_zeros);
  EXPECT_EQ(one.quantiles, many.quantiles);
  EXPECT_EQ(one.coded_bits, many.coded_bits);
}

TEST(Large, ManyRanksInOneBucketOfDoublesAreFoundInAFewPasses) {
  // 2^18 keys exceed the kept ones: cells of 2^29, 2^13 and 1 key follow each other.
  std::mt19937_64 random(5);
  std::vector<double> x(800000);
  for (auto& v : x) v = 1 + static_cast<double>(random() % (uint64_t{1} << 44)) * 0x1p-52;
  int passes = 0;
  const auto f =
      recorded::analyse(tmeter::DType(TMETER_DTYPE_FLOAT64), bytes_of(x), 3, 32768, 0.01, &passes);
  expect_quantiles(f, x);
  EXPECT_LE(passes, 4);
}

}  // namespace
