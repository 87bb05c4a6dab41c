#include "core/process/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "tests/support/in_child.hpp"
#include "tests/support/interrupted.hpp"

namespace tmeter::core {
namespace {
struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() { close(ends[0]), close(ends[1]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  std::array<int, 2> ends{};
};

/// How long `wait_for` takes.
Clock::duration waited(const std::vector<PolledDescriptor>& watched, Clock::time_point until) {
  const auto begin = Clock::now();
  wait_for(watched, until);
  return Clock::now() - begin;
}

TEST(EventLoop, CallsOnlyTheHandlersOfReadyDescriptors) {
  const Pipe full, empty;
  ASSERT_EQ(write(full.ends[1], "x", 1), 1);
  std::string called;
  const auto note = [&](char c) { return [&called, c] { called += c; }; };
  wait_for({{-1, POLLIN, note('a')},
            {full.ends[0], POLLIN, note('b')},
            {empty.ends[0], POLLIN, note('c')},
            {empty.ends[1], POLLOUT, note('d')}},
           Clock::time_point::max());
  EXPECT_EQ(called, "bd");
}

TEST(EventLoop, AnEndAndAnInvalidDescriptorAreEvents) {
  Pipe pipe;
  close(pipe.ends[1]);
  int called = 0;
  wait_for({{pipe.ends[0], POLLIN, [&] { ++called; }}}, Clock::time_point::max());
  EXPECT_EQ(called, 1);
  wait_for({{pipe.ends[1], POLLOUT, [&] { ++called; }}}, Clock::time_point::max());
  EXPECT_EQ(called, 2);
  pipe.ends[1] = -1;
}

TEST(EventLoop, DoesNotReturnBeforeTheTimeIsReached) {
  const Pipe empty;
  const std::vector<PolledDescriptor> watched{{empty.ends[0], POLLIN, [] { ADD_FAILURE(); }}};
  const auto until = Clock::now() + std::chrono::microseconds(20'300);
  wait_for(watched, until);
  EXPECT_GE(Clock::now(), until);
  EXPECT_LT(waited(watched, Clock::now() - std::chrono::seconds(100)), std::chrono::seconds(10));
  EXPECT_LT(waited({}, Clock::now() + std::chrono::milliseconds(1)), std::chrono::seconds(10));
}

TEST(EventLoop, ASignalEndsTheWait) {
  const auto done = testing::in_child([] {
    const Pipe empty;
    const testing::Interrupted interrupted;
    const auto took = waited({{empty.ends[0], POLLIN, [] { _exit(1); }}}, Clock::time_point::max());
    return took < std::chrono::seconds(30) ? 0 : 2;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(EventLoop, TimesAreRelativeToNow) {
  for (const double much : {0.0, 0.25, 3600.0}) {
    const auto before = Clock::now();
    const auto reached = in_seconds(much);
    const auto after = Clock::now();
    const std::chrono::milliseconds expected(static_cast<int64_t>(much * 1000));
    EXPECT_GE(reached, before + expected);
    EXPECT_LE(reached, after + expected);
  }
}

}  // namespace
}  // namespace tmeter::core
