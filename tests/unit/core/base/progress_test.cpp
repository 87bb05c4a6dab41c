#include "core/base/progress.hpp"

#include <gtest/gtest.h>

namespace tmeter::core {
namespace {

TEST(Progress, SaysHowMuchHowFastAndHowLong) {
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

}  // namespace
}  // namespace tmeter::core
