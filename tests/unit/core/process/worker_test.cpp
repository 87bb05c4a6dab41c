// A worker's messages as its supervisor receives them.
#include "core/process/worker.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "core/process/activity.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/interrupted.hpp"

namespace tmeter::core {
namespace {

struct Heard {
  FrameKind kind;
  uint64_t first, second;
  std::string text;
  bool operator==(const Heard&) const = default;
};

std::vector<Heard> heard(const std::function<void(Worker&)>& f) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  Worker worker(ends[1], {});
  f(worker);
  close(ends[1]);
  std::vector<Heard> frames;
  FrameReader reader(ends[0]);
  while (reader.read([&](const Frame& f) {
    frames.push_back({f.kind, f.numbers[0], f.numbers[1], std::string(f.text)});
  })) {
  }
  close(ends[0]);
  return frames;
}

TEST(Worker, SendsEverythingAsFrames) {
  const auto frames = heard([](Worker& w) {
    w.message("a line");
    w.progress_ended();
    w.runs_file("LibTorch");
    EXPECT_EQ(activity().engine.text(), "LibTorch");
    w.runs_file("");
    EXPECT_TRUE(activity().engine.empty());
    w.report(3, "bytes");
    w.report(3, "!");
    w.report_whole(3);
    w.finish({});
    w.message("never delivered");
  });
  const std::vector<Heard> expected{
      {FrameKind::kMessage, 0, 0, "a line"},    {FrameKind::kProgressEnded, 0, 0, ""},
      {FrameKind::kRunsFile, 0, 0, "LibTorch"}, {FrameKind::kRunsFile, 0, 0, ""},
      {FrameKind::kReport, 3, 0, "bytes"},      {FrameKind::kReport, 3, 0, "!"},
      {FrameKind::kReportWhole, 3, 6, ""},      {FrameKind::kFinished, 0, 0, ""}};
  EXPECT_EQ(frames, expected);
}

TEST(Worker, SendsTheOutcomeWithItsOffender) {
  const auto outcome = [](const Outcome& e) { return heard([&](Worker& w) { w.finish(e); }); };
  using namespace std::string_literals;
  EXPECT_EQ(outcome({5, "why", true, Excluded{"com.acme.p", "failed: odd", false, true}}),
            (std::vector<Heard>{{FrameKind::kOffender, 0, 1, "com.acme.p\0failed: odd"s},
                                {FrameKind::kFinished, 5, 1, "why"}}));
  EXPECT_EQ(outcome({4, "why", false, Excluded{"com.acme.q", "", true, false}}),
            (std::vector<Heard>{{FrameKind::kOffender, 1, 0, "com.acme.q\0"s},
                                {FrameKind::kFinished, 4, 0, "why"}}));
}

TEST(Worker, SendsProgressAtIntervals) {
  const auto frames = heard([](Worker& w) {
    for (uint64_t i = 0; i < 1000; ++i) w.progress(i, 5000, "B");
    usleep(60'000);
    w.progress(1000, 5000, "B");
  });
  ASSERT_GE(frames.size(), 2u);
  EXPECT_LT(frames.size(), 500u);  // a busy machine may take a while for the thousand
  EXPECT_EQ(frames.front(), (Heard{FrameKind::kProgress, 0, 5000, "B"}));
  EXPECT_EQ(frames.back(), (Heard{FrameKind::kProgress, 1000, 5000, "B"}));
}

TEST(Worker, SendsLongReportsThroughSharedMemory) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  ReportMemory memory;
  std::string longer;
  for (int i = 0; longer.size() < 3 * ReportMemory::kSlotBytes; ++i) longer += std::to_string(i);
  Worker worker(ends[1], {}, &memory);
  worker.report(1, "short");
  worker.report(1, longer);
  worker.report(1, "last");
  close(ends[1]);
  std::string text;
  size_t long_ones = 0;
  FrameReader reader(ends[0]);
  while (reader.read([&](const Frame& f) {
    EXPECT_EQ(f.numbers[0], 1u);
    const bool is_long = f.kind == FrameKind::kLongReport;
    text += is_long ? memory.at(f.numbers[1]).value() : f.text;
    long_ones += is_long;
  })) {
  }
  close(ends[0]);
  EXPECT_EQ(text, "short" + longer + "last");
  EXPECT_EQ(long_ones, 4u);
}

TEST(Worker, SendsLongReportsThroughThePipeWithoutSharedMemory) {
  if (!testing::kMemoryIsLimited) GTEST_SKIP();
  const auto done = testing::in_child([] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return 1;
    testing::LateReader late(ends[0]);
    testing::fail_call(SYS_mmap, ENOMEM);
    ReportMemory memory;
    if (memory.there()) return 2;
    const std::string bytes(ReportMemory::kLong, 'x');
    {
      Worker worker(ends[1], {}, &memory);
      worker.report(0, bytes);
    }
    close(ends[1]);
    const auto seen = late.text();
    return seen.size() > bytes.size() && seen.ends_with(bytes) ? 0 : 3;
  });
  EXPECT_EQ(done.status(), 0);
}

}  // namespace
}  // namespace tmeter::core
