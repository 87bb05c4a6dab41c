// Deprecated headers of the SDK: plugins that include them still build.
#include <gtest/gtest.h>

#include <tmeter/cpp/place.hpp>
#include <tmeter/cpp/weight_macs.hpp>
#include <tmeter/cpp/words.hpp>

namespace {

TEST(DeprecatedHeaders, StillWork) {
  EXPECT_EQ(tmeter::percent(0.123), "12.3 %");
  EXPECT_EQ(tmeter::count_of(1, "tensor"), "1 tensor");
  EXPECT_EQ(tmeter::count_of(2, "tensor"), "2 tensors");
  EXPECT_EQ(tmeter::listed(4, 2, [](size_t i) { return std::to_string(i); }), "0, 1 and 2 more");
  EXPECT_NE(&tmeter::place, nullptr);
  EXPECT_NE(&tmeter::weight_macs, nullptr);
}

}  // namespace
