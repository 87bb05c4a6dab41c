// Blocks of a report's rows: made by two threads, handed over in order, only a few at a time.
#include "plugins/reports/json/blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace {

using json_report::BlockOrder;

TEST(BlockOrder, BlocksOfAllThreadsAreHandedOverInOrder) {
  constexpr size_t kCount = 5000;
  BlockOrder order(kCount);
  std::array<size_t, BlockOrder::kAlive> made{};
  std::atomic<size_t> alive{0}, most{0}, by_other{0};
  const auto make = [&](size_t block) {
    const auto now = ++alive;
    for (size_t m = most; now > m && !most.compare_exchange_weak(m, now);) {
    }
    if (block % 7 == 0) std::this_thread::yield();
    made[block % BlockOrder::kAlive] = block;
    order.made(block);
  };
  std::thread other([&] {
    while (const auto block = order.take()) {
      make(*block);
      ++by_other;
    }
  });
  size_t expected = 0;
  while (const auto step = order.next_step()) {
    if (!step->is_made) {
      make(step->block);
      continue;
    }
    ASSERT_EQ(step->block, expected++);
    ASSERT_EQ(made[step->block % BlockOrder::kAlive], step->block);
    --alive;
    order.handed_over();
  }
  other.join();
  EXPECT_EQ(expected, kCount);
  EXPECT_LE(most, BlockOrder::kAlive);
}

TEST(BlockOrder, OneThreadAloneMakesAll) {
  BlockOrder order(3);
  std::array<size_t, 3> handed{};
  size_t count = 0;
  while (const auto step = order.next_step()) {
    if (step->is_made) {
      handed[count++] = step->block;
      order.handed_over();
    } else {
      order.made(step->block);
    }
  }
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(handed, (std::array<size_t, 3>{0, 1, 2}));
  EXPECT_FALSE(order.take());
}

TEST(BlockOrder, AThreadThatFailsIsNotWaitedFor) {
  BlockOrder order(2);
  ASSERT_TRUE(order.take());  // it is never made
  std::thread other([&] { order.stop(); });
  while (const auto step = order.next_step()) {
    ASSERT_FALSE(step->is_made);
    order.made(step->block);
  }
  other.join();
  EXPECT_FALSE(order.take());
}

TEST(BlockOrder, TheOtherThreadDoesNotWaitForOneThatFails) {
  BlockOrder order(100);
  std::thread other([&] {
    while (const auto block = order.take()) order.made(*block);
  });
  { const BlockOrder::Stop stop(order); }
  other.join();
  EXPECT_FALSE(order.next_step());
}

}  // namespace
