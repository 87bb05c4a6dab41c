#include "samples.hpp"

#include <gtest/gtest.h>

namespace latency {
namespace {

Samples of(std::initializer_list<double> values) {
  Samples s;
  for (const double v : values) s.add(v);
  return s;
}

TEST(Samples, OfNothing) {
  EXPECT_EQ(Samples().median(), 0);
  EXPECT_EQ(Samples().uncertainty(), 0);
}

// numpy.quantile([1, 2, 3, 4, 10], [.05, .5, .95]) = [1.2, 3, 8.8] (NumPy 2.5.1)
TEST(Samples, QuantilesAreNumPys) {
  const auto s = of({10, 3, 1, 4, 2});
  EXPECT_DOUBLE_EQ(s.quantile(0.05), 1.2);
  EXPECT_DOUBLE_EQ(s.median(), 3);
  EXPECT_DOUBLE_EQ(s.quantile(0.95), 8.8);
  EXPECT_DOUBLE_EQ(of({7}).quantile(0.95), 7);
}

// n = 25: 12.5 ∓ 1.96 × 5 / 2 = 7.6 and 17.4, so the 7th and the 19th.
TEST(Samples, IntervalOfTheMedianIsByRanks) {
  Samples s;
  for (int i = 25; i >= 1; --i) s.add(i);
  const auto interval = s.of_median();
  EXPECT_EQ(interval.low, 7);
  EXPECT_EQ(interval.high, 19);
  EXPECT_DOUBLE_EQ(s.uncertainty(), 6.0 / 13);
}

// Binomial(n, 1/2): a true median lies between the 7th and 19th of 25 with 98.6 %, and in every
// case with at least 95 %.
TEST(Samples, FewRunsGiveNoNarrowInterval) {
  const auto s = of({1, 2, 9});
  EXPECT_EQ(s.of_median().low, 1);
  EXPECT_EQ(s.of_median().high, 9);
}

}  // namespace
}  // namespace latency
