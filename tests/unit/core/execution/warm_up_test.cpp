#include <gtest/gtest.h>

#include "core/execution/model_runs.hpp"

namespace tmeter::core {
namespace {

TEST(WarmUp, EndsWhenThreeRunsAgree) {
  WarmUp w(100);
  EXPECT_FALSE(w.is_done());
  for (const double seconds : {1.0, 0.5, 0.4, 0.4}) {
    w.add(seconds);
    EXPECT_FALSE(w.is_done()) << seconds;
  }
  w.add(0.41);  // 0.40, 0.40, 0.41: 2.5 % apart
  EXPECT_TRUE(w.is_done());
}

TEST(WarmUp, TakesAThirdOfTheTimeAtMost) {
  WarmUp w(10);
  w.add(2);
  EXPECT_TRUE(w.is_done());  // a second run would end after 4 s
  EXPECT_FALSE(w.too_slow());
}

TEST(WarmUp, EndsAfterARunLongerThanTheWholeTime) {
  WarmUp w(10);
  w.add(11);
  EXPECT_TRUE(w.is_done());
  EXPECT_TRUE(w.too_slow());
}

TEST(WarmUp, EndsWithoutAgreement) {
  WarmUp w(1e9);
  for (int i = 0; i < 49; ++i) {
    w.add(1 + i % 2);
    EXPECT_FALSE(w.is_done());
  }
  w.add(1);
  EXPECT_TRUE(w.is_done());
}

}  // namespace
}  // namespace tmeter::core
