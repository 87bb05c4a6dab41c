#include "core/process/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/answer_call.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/interrupted.hpp"

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
  const std::string large(3 << 20, 'r');  // larger than a pipe or a frame
  std::thread sender([&] {
    FrameWriter writer(out());
    writer.send(FrameKind::kProgress, 7, 1ull << 40, "B");
    writer.send(FrameKind::kReport, 2, 0, large);
    writer.send(FrameKind::kFinished, 5, 0, "why");
    hang_up();
  });
  FrameReader reader(in());
  std::vector<Frame> frames;
  std::vector<std::string> texts;
  const auto keep = [&](const Frame& f) {
    frames.push_back(f);
    texts.emplace_back(f.text);
  };
  while (reader.read(keep)) {
  }
  sender.join();
  EXPECT_FALSE(reader.broken());
  ASSERT_EQ(frames.size(), 5u);  // the report comes in three frames
  EXPECT_EQ(frames[0].numbers[1], 1ull << 40);
  EXPECT_EQ(texts[0], "B");
  EXPECT_EQ(texts[1] + texts[2] + texts[3], large);
  EXPECT_EQ(frames[3].numbers[0], 2u);
  EXPECT_EQ(texts[4], "why");
}

TEST_F(Channel, InvalidFramesBreakItAndAreNotDelivered) {
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

TEST_F(Channel, AnIncompleteFrameIsAwaitedAndAnEndIsNotADefect) {
  FrameReader reader(in());
  const std::string half("\1\0\0\0\4\0\0\0", 8);
  ASSERT_EQ(write(out(), half.data(), half.size()), 8);
  EXPECT_TRUE(reader.read([](const Frame&) { FAIL(); }));
  hang_up();
  EXPECT_FALSE(reader.read([](const Frame&) { FAIL(); }));
  EXPECT_FALSE(reader.broken());
}

std::string frame(uint32_t kind, uint32_t size, const std::string& text) {
  std::string bytes(24, '\0');
  std::memcpy(bytes.data(), &kind, sizeof kind);
  std::memcpy(bytes.data() + 4, &size, sizeof size);
  return bytes + text;
}

TEST_F(Channel, FramesMayArriveInPiecesAndSeveralAtOnce) {
  const auto all = frame(1, 5, "hello") + frame(4, 0, "") + frame(6, 3, "end");
  for (size_t piece = 1; piece <= all.size(); piece += 7) {
    FrameReader reader(in());
    std::string received;
    for (size_t at = 0; at < all.size(); at += piece) {
      const auto part = all.substr(at, piece);
      ASSERT_EQ(write(out(), part.data(), part.size()), static_cast<ssize_t>(part.size()));
      ASSERT_TRUE(reader.read([&](const Frame& f) {
        received += std::to_string(static_cast<uint32_t>(f.kind)) + std::string(f.text) + ";";
      }));
    }
    EXPECT_EQ(received, "1hello;4;6end;") << piece;
  }
}

TEST_F(Channel, KindsAndSizesHaveBounds) {
  const auto broken = [&](const std::string& bytes) {
    FrameReader reader(in());
    EXPECT_EQ(write(out(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const bool going = reader.read([](const Frame&) {});
    EXPECT_EQ(going, !reader.broken());
    return reader.broken();
  };
  EXPECT_TRUE(broken(frame(0, 0, "")));
  const auto last = static_cast<uint32_t>(FrameKind::kParticipant);
  for (uint32_t kind = 1; kind <= last; ++kind) EXPECT_FALSE(broken(frame(kind, 0, "")));
  EXPECT_TRUE(broken(frame(last + 1, 0, "")));
  EXPECT_FALSE(broken(frame(1, 1 << 20, "")));
  EXPECT_TRUE(broken(frame(1, (1 << 20) + 1, "")));
  EXPECT_TRUE(broken(frame(1, 1, "x") + frame(last + 1, 0, "")));
}

TEST_F(Channel, AnEmptyPipeIsNotTheEnd) {
  fcntl(in(), F_SETFL, O_NONBLOCK);
  FrameReader reader(in());
  EXPECT_TRUE(reader.read([](const Frame&) { FAIL(); }));
  EXPECT_FALSE(FrameReader(-1).read([](const Frame&) { FAIL(); }));
}

TEST_F(Channel, LongMessagesAreTruncated) {
  std::thread sender([&] {
    FrameWriter(out()).send(FrameKind::kMessage, 0, 0, std::string((1 << 20) + 1, 'm'));
    hang_up();
  });
  std::vector<size_t> sizes;
  FrameReader reader(in());
  while (reader.read([&](const Frame& f) { sizes.push_back(f.text.size()); })) {
  }
  sender.join();
  EXPECT_EQ(sizes, std::vector<size_t>{1 << 20});
}

TEST_F(Channel, AnEmptyReportIsOneFrame) {
  FrameWriter(out()).send(FrameKind::kReport, 3, 9, {});
  hang_up();
  FrameReader reader(in());
  std::vector<Frame> frames;
  while (reader.read([&](const Frame& f) { frames.push_back(f); })) {
  }
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].numbers[0], 3u);
  EXPECT_EQ(frames[0].numbers[1], 9u);
}

TEST_F(Channel, ALostReaderIsIgnored) {
  FrameWriter(-1).send(FrameKind::kReport, 0, 0, std::string(3 << 20, 'x'));
}

int calls_of_writev = 0;

TEST_F(Channel, AfterAFailureTheRestOfAReportIsNotTried) {
  const auto done = testing::in_child([&] {
    testing::answer_call(SYS_writev, [](const testing::CallArguments&) {
      ++calls_of_writev;
      return long{-EPIPE};
    });
    FrameWriter(out()).send(FrameKind::kReport, 0, 0, std::string(3 << 20, 'x'));
    return calls_of_writev;
  });
  EXPECT_EQ(done.status(), 1);
}

TEST_F(Channel, SendingGoesOnAfterASignal) {
  const std::string much(300'000, 'x');
  testing::LateReader late(in());
  {
    const testing::Interrupted interrupted;
    FrameWriter(out()).send(FrameKind::kMessage, 0, 0, much);
  }
  hang_up();
  EXPECT_EQ(late.text().substr(24), much);
}

}  // namespace
}  // namespace tmeter::core
