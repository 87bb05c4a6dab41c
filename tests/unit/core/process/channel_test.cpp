#include "core/process/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace tmeter::core {
namespace {

class Channel : public ::testing::Test {
 protected:
  Channel() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Channel() override {
    close(ends_[0]);
    hang_up();
  }
  void hang_up() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  int in() const { return ends_[0]; }
  int out() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(Channel, FramesArriveWholeAndInOrder) {
  const std::string large(3 << 20, 'r');  // beyond what a pipe or a frame holds
  std::thread sender([&] {
    FrameWriter writer(out());
    writer.send(FrameKind::kProgress, 7, 1ull << 40, "B");
    writer.send(FrameKind::kReport, 2, 0, large);
    writer.send(FrameKind::kFinished, 5, 0, "why");
    hang_up();
  });
  FrameReader reader(in());
  std::vector<Frame> frames;
  while (reader.read([&](const Frame& f) { frames.push_back(f); })) {
  }
  sender.join();
  EXPECT_FALSE(reader.broken());
  ASSERT_EQ(frames.size(), 5u);  // the report in three
  EXPECT_EQ(frames[0].numbers[1], 1ull << 40);
  EXPECT_EQ(frames[0].text, "B");
  EXPECT_EQ(frames[1].text + frames[2].text + frames[3].text, large);
  EXPECT_EQ(frames[3].numbers[0], 2u);
  EXPECT_EQ(frames[4].text, "why");
}

TEST_F(Channel, WhatIsNoFrameBreaksItAndIsNotHandedOver) {
  const std::vector<std::string> kinds{
      std::string(64, '\xff'), std::string(24, '\0'),
      std::string("\1\0\0\0\xff\xff\xff\xff", 8) + std::string(16, 'x')};  // absurdly long
  for (const auto& garbage : kinds) {
    FrameReader reader(in());
    ASSERT_EQ(write(out(), garbage.data(), garbage.size()), static_cast<ssize_t>(garbage.size()));
    EXPECT_FALSE(reader.read([](const Frame&) { FAIL(); }));
    EXPECT_TRUE(reader.broken());
  }
}

TEST_F(Channel, HalfAFrameIsWaitedForAndAnEndIsNoDefect) {
  FrameReader reader(in());
  const std::string half("\1\0\0\0\4\0\0\0", 8);
  ASSERT_EQ(write(out(), half.data(), half.size()), 8);
  EXPECT_TRUE(reader.read([](const Frame&) { FAIL(); }));
  hang_up();
  EXPECT_FALSE(reader.read([](const Frame&) { FAIL(); }));
  EXPECT_FALSE(reader.broken());
}

}  // namespace
}  // namespace tmeter::core
