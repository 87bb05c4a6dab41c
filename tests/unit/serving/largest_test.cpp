// The search for the largest size that fits, against trying every one.
#include "plugins/common/serving/largest.hpp"

#include <gtest/gtest.h>

namespace serving {
namespace {

TEST(Largest, IsTheLastOfTheRangeThatFits) {
  for (int64_t least = 0; least <= 3; ++least)
    for (int64_t most = least; most <= 20; ++most)
      for (int64_t limit = least - 1; limit <= most + 2; ++limit)
        EXPECT_EQ(largest(least, most, [&](int64_t n) { return n <= limit; }),
                  std::min(limit, most));
}

TEST(Largest, StaysInTheRangeAndNearTheAnswer) {
  int64_t beyond = 0, tries = 0;
  const auto found = largest(1, int64_t{1} << 30, [&](int64_t n) {
    ++tries, beyond = std::max(beyond, n);
    return n <= 1000;
  });
  EXPECT_EQ(found, 1000);
  EXPECT_LE(beyond, 2048);
  EXPECT_LE(tries, 22);
}

}  // namespace
}  // namespace serving
