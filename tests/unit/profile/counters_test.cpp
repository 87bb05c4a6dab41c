#include "counters.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace profile {
namespace {

/// Runs until the process has used another `nanoseconds` of processor time.
void burn(Counters& counters, uint64_t nanoseconds) {
  const auto until = counters.read()[kCpuTime] + nanoseconds;
  while (counters.read()[kCpuTime] < until) {
  }
}

TEST(SystemCounters, ProcessorTimeIsAlwaysAvailable) {
  SystemCounters counters;
  EXPECT_EQ(counters.missing(kCpuTime), "");
  const auto before = counters.read();
  burn(counters, 2'000'000);
  EXPECT_GE(counters.read()[kCpuTime] - before[kCpuTime], 2'000'000U);
}

TEST(SystemCounters, ProcessorTimeIsThatOfAllThreads) {
  SystemCounters counters;
  const auto before = counters.read();
  std::thread([&] { burn(counters, 2'000'000); }).join();
  EXPECT_GE(counters.read()[kCpuTime] - before[kCpuTime], 2'000'000U);
}

TEST(SystemCounters, MissingCountersHaveAReasonAndAreZero) {
  SystemCounters counters;
  const auto readings = counters.read();
  for (size_t i = 0; i < kEventCount; ++i) {
    const auto why = counters.missing(static_cast<Event>(i));
    EXPECT_TRUE(why.empty() || readings[i] == 0) << why;
  }
}

}  // namespace
}  // namespace profile
