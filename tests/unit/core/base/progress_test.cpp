#include "core/base/progress.hpp"

#include <gtest/gtest.h>

namespace tmeter::core {
namespace {

TEST(Progress, ListsAmountRateAndTimeLeft) {
  // 1.3 GB in 0.26 s are 5 GB/s; the other 1.3 GB take 0.26 s, which is rounded up.
  EXPECT_EQ(progress_text(1'300'000'000, 2'600'000'000, "B", 0.26),
            "1.30 of 2.60 GB, 5.00 GB/s, 1 s left");
  EXPECT_EQ(progress_text(10, 100, "nodes", 1), "10 of 100 nodes, 10.00 nodes/s, 9 s left");
  EXPECT_EQ(progress_text(1000, 400'000, "B", 1), "1.00 of 400.00 kB, 1.00 kB/s, 6 min 39 s left");
}

TEST(Progress, InventsNoRateAndNoTotal) {
  EXPECT_EQ(progress_text(0, 2'000'000, "B", 0), "0.00 of 2.00 MB");
  EXPECT_EQ(progress_text(500, 0, "B", 0), "500 B");
}

TEST(Progress, EachPieceOfWorkHasItsOwnRate) {
  Pace pace;
  const auto at = [](int second) {
    return Pace::Clock::time_point{} + std::chrono::seconds(1000 + second);
  };
  EXPECT_EQ(pace.seconds(0, 100, "nodes", at(0)), 0);
  EXPECT_EQ(pace.seconds(50, 100, "nodes", at(2)), 2);
  EXPECT_EQ(pace.seconds(100, 100, "nodes", at(4)), 4);
  EXPECT_EQ(pace.seconds(0, 100, "nodes", at(5)), 0) << "read a second time";
  EXPECT_EQ(pace.seconds(10, 100, "nodes", at(8)), 3);
  EXPECT_EQ(pace.seconds(10, 100, "B", at(9)), 0);
  EXPECT_EQ(pace.seconds(20, 100, "B", at(10)), 1);
  EXPECT_EQ(pace.seconds(20, 400, "B", at(11)), 0);
}

}  // namespace
}  // namespace tmeter::core
