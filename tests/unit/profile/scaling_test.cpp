#include "scaling.hpp"

#include <gtest/gtest.h>

namespace profile {
namespace {

TEST(Scaling, ThreadsDouble) {
  EXPECT_EQ(Scaling::counts(1), (std::vector<int32_t>{1}));
  EXPECT_EQ(Scaling::counts(2), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(Scaling::counts(6), (std::vector<int32_t>{1, 2, 4, 6}));
}

TEST(Scaling, EfficiencyIsThatOfTheMostThreads) {
  Scaling s;
  for (const double t : {8.0, 8.1, 7.9}) s.add(1, t);
  s.add(2, 5);
  s.add(4, 4);
  EXPECT_DOUBLE_EQ(s.efficiency(), 8.0 / (4 * 4));
  EXPECT_EQ(s.best(), 4);
}

TEST(Scaling, MoreThreadsMustGainSomething) {
  Scaling s;
  s.add(1, 10);
  s.add(2, 9.9);
  s.add(4, 12);
  EXPECT_EQ(s.best(), 1);
}

TEST(Scaling, WithoutARunOnOneThreadThereIsNoEfficiency) {
  Scaling s;
  EXPECT_EQ(s.efficiency(), 0);
  EXPECT_EQ(s.best(), 0);
  s.add(2, 5);
  EXPECT_EQ(s.efficiency(), 0);
}

}  // namespace
}  // namespace profile
