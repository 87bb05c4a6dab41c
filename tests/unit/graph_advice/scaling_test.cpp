// Time as a function of the batch, by hand: tests/cli/test_parallelism_advice.py has the table.
#include <gtest/gtest.h>

#include "plugins/advice/parallelism/rules.hpp"

namespace {

using parallelism::choose;
using parallelism::Memory;
using parallelism::Scaling;

/// 100 s to move weights and 20 s for each batch, 10 s of arithmetic; 1 s of calls, 3 s fixed.
Scaling one_layer() { return {{{10, 100, 20}}, 1, 3}; }

TEST(Scaling, MemoryThenArithmetic) {
  EXPECT_DOUBLE_EQ(one_layer().time(1), 120 + 1 + 3);
  EXPECT_DOUBLE_EQ(one_layer().time(2), 140 + 1 + 3);
  Scaling slow{{{50, 100, 20}}, 0, 0};
  EXPECT_DOUBLE_EQ(slow.time(2), 140);  // 100 of arithmetic
  EXPECT_DOUBLE_EQ(slow.time(4), 200);  // 180 of memory
}

TEST(Scaling, AnEndlessBatchReadsWeightsAtNoCost) {
  EXPECT_DOUBLE_EQ(one_layer().limit(), 20);
  EXPECT_DOUBLE_EQ(one_layer().efficiency(1), 20.0 / 124);
  EXPECT_DOUBLE_EQ((Scaling{{{50, 100, 20}}, 0, 0}).limit(), 50);
  EXPECT_DOUBLE_EQ((Scaling{{}, 0, 0}).efficiency(1), 1);
}

TEST(Scaling, TheSmallestPowerOfTwoThatReachesTheShare) {
  // 20 n / (104 + 20 n) ≥ 0.9: n ≥ 46.8.
  const auto choice = choose(one_layer(), {}, 0.9);
  EXPECT_EQ(choice.factor, 64);
  EXPECT_FALSE(choice.limited_by_memory);
  EXPECT_EQ(choose({{{50, 0, 20}}, 0, 0}, {}, 0.9).factor, 1);
}

TEST(Scaling, MemoryLimitsTheBatch) {
  const Memory memory{100, 10, 100 + 8 * 10};
  EXPECT_TRUE(memory.fits(8));
  EXPECT_FALSE(memory.fits(9));
  const auto choice = choose(one_layer(), memory, 0.9);
  EXPECT_EQ(choice.factor, 8);
  EXPECT_TRUE(choice.limited_by_memory);
  EXPECT_TRUE((Memory{100, 10, 0}).fits(1e30));  // capacity unknown
}

TEST(Scaling, NoEndIsFound) {
  // The fixed part is a million times the growing one: no batch up to 2^20 reaches the share.
  EXPECT_EQ(choose({{{0, 0, 1e-9}}, 0, 1}, {}, 0.9).factor, int64_t{1} << 20);
}

}  // namespace
