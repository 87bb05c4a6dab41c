#include "core/analysis/adding_up.hpp"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace tmeter::core {
namespace {

TEST(AddingUp, EachColumnIsAddedUpOnceByWhoeverComesFirst) {
  constexpr size_t kColumns = 200;
  std::vector<int> times(kColumns);
  AddingUp adding([&](size_t column) { ++times[column]; });
  for (size_t i = 0; i < kColumns; ++i) adding.add(i);
  while (const auto last = adding.take_last()) ++times[*last];
  for (size_t i = 0; i < kColumns; ++i) {
    adding.take(i);  // none waits any more: but one may be at work
    EXPECT_EQ(times[i], 1) << i;
  }
}

TEST(AddingUp, WhatIsTakenIsEitherDoneOrTheCallersOwn) {
  constexpr size_t kColumns = 200;
  std::vector<int> times(kColumns);
  AddingUp adding([&](size_t column) { ++times[column]; });
  for (size_t i = 0; i < kColumns; ++i) adding.add(i);
  for (size_t i = kColumns; i-- > 0;) EXPECT_EQ(times[i], adding.take(i) ? 1 : 0) << i;
}

TEST(AddingUp, TheColumnThatAnotherIsAtIsWaitedFor) {
  std::promise<void> begun, go_on;
  bool done = false;
  AddingUp adding([&](size_t) {
    begun.set_value();
    go_on.get_future().wait();
    done = true;
  });
  adding.add(7);
  begun.get_future().wait();
  EXPECT_FALSE(adding.take_last());
  auto waiting = std::async(std::launch::async, [&] { return adding.take(7) && done; });
  go_on.set_value();
  EXPECT_TRUE(waiting.get());
}

TEST(AddingUp, WhatFailsIsNotDoneAndTheNextIsBegun) {
  std::promise<void> second;
  AddingUp adding([&](size_t column) {
    if (column == 0) throw std::runtime_error("beyond 2^63");
    second.set_value();
  });
  adding.add(0);
  adding.add(1);
  second.get_future().wait();
  EXPECT_FALSE(adding.take(0));
  EXPECT_TRUE(adding.take(1));
}

TEST(AddingUp, WhatNobodyHandedOverIsTheCallers) {
  AddingUp adding([](size_t) {});
  EXPECT_FALSE(adding.take(3));
  EXPECT_FALSE(adding.take_last());
}

}  // namespace
}  // namespace tmeter::core
