// Which measurements are trusted. Bounds are those of docs/running.md.
#include <gtest/gtest.h>

#include "plugins/metrics/latency/samples.hpp"

namespace {

using latency::distrust_reasons;
using latency::RunConditions;

/// A quiet machine of two processors.
RunConditions quiet() {
  return {.runs = 10,
          .p5 = 0.100,
          .p95 = 0.130,
          .median = 0.110,
          .operators = 0.120,
          .others = 0.1,
          .processors = 2,
          .threads = 2};
}

void expect_reason(const RunConditions& c, const char* words) {
  const auto all = distrust_reasons(c);
  ASSERT_EQ(all.size(), 1U) << words;
  EXPECT_NE(all[0].find(words), std::string::npos) << all[0];
}

TEST(Trust, AQuietMachineIsTrusted) { EXPECT_TRUE(distrust_reasons(quiet()).empty()); }

TEST(Trust, FewRuns) {
  auto c = quiet();
  c.runs = 9;
  expect_reason(c, "only 9 runs were measured");
  c.runs = 1;
  expect_reason(c, "only one run was measured");
}

TEST(Trust, TimesThatVary) {
  auto c = quiet();
  c.p95 = 0.131;
  expect_reason(c, "p95 is 1.31 times p5");
  c.p95 = c.p5 * 2610;
  expect_reason(c, "p95 is 2610 times p5");
}

TEST(Trust, OtherProcesses) {
  auto c = quiet();
  c.others = 1.5;
  expect_reason(c, "other processes kept 1.5 of 2 processors busy");
  c.threads = 1;
  c.others = 1;  // there is a processor for both
  EXPECT_TRUE(distrust_reasons(c).empty());
}

TEST(Trust, OperatorsFarFromTheWhole) {
  auto c = quiet();
  c.operators = 0.060;
  expect_reason(c, "the operators' times add up to 60.00 ms, a whole run takes 110.00 ms");
  c.operators = 0.170;
  expect_reason(c, "add up to 170.00 ms");
  c.operators = 0;  // not observed
  EXPECT_TRUE(distrust_reasons(c).empty());
  c.median = c.p5 = c.p95 = 1e-4;
  c.operators = 4e-4;  // events take longer than operators
  EXPECT_TRUE(distrust_reasons(c).empty());
}

TEST(Trust, OneMomentHasNoLoad) { EXPECT_FALSE(latency::OtherProcesses().busy().has_value()); }

}  // namespace
