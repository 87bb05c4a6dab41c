#include <gtest/gtest.h>

#include "plugins/metrics/param_stats/statistics.hpp"

namespace param_stats {
namespace {

// By hand: lines of 64 bytes.
TEST(CacheLines, RowsThatFillTheirLinesUseThemWholly) {
  EXPECT_EQ(cache_line_use(0, 128, 128, 1000), 1.0);
  EXPECT_EQ(cache_line_use(4096, 8192, 8192, 4096), 1.0);
}

TEST(CacheLines, AMisalignedMatrixTouchesOneLineMorePerRow) {
  // 8,192 bytes from byte 8 on: 129 lines.
  EXPECT_DOUBLE_EQ(cache_line_use(8, 8192, 8192, 100), 8192.0 / (129 * 64));
}

TEST(CacheLines, ShortRowsShareTheirLines) {
  // 20 bytes a row: rows 0, 1, 2 are in line 0; row 3 (bytes 60 to 79) in lines 0 and 1; five
  // lines.
  EXPECT_DOUBLE_EQ(cache_line_use(0, 20, 20, 4), 4 * 20.0 / (5 * 64));
}

TEST(CacheLines, ThePatternRepeatsSoThatManyRowsTakeNoLonger) {
  // 36 bytes a row: begins repeat after 16 rows (16 x 36 = 9 x 64).
  EXPECT_DOUBLE_EQ(cache_line_use(0, 36, 36, 16), cache_line_use(0, 36, 36, 1'000'000'000));
}

}  // namespace
}  // namespace param_stats
