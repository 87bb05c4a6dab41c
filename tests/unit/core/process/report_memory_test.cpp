// Long pieces of reports sent through memory that two processes share.
#include "core/process/report_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace tmeter::core {
namespace {

std::string piece(size_t i) {
  return std::string(ReportMemory::kSlotBytes - i, static_cast<char>('a' + i % 26));
}

TEST(ReportMemory, PiecesOfAnotherProcessArriveInOrder) {
  constexpr size_t kPieces = 40;  // far more than there are slots
  ReportMemory memory;
  ASSERT_TRUE(memory.there());
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const auto worker = fork();
  if (worker == 0) {
    for (size_t i = 0; i < kPieces; ++i) {
      const auto place = memory.put(piece(i));
      if (write(ends[1], &place, sizeof place) != sizeof place) _exit(1);
    }
    _exit(0);
  }
  for (size_t i = 0; i < kPieces; ++i) {
    uint64_t place = 0;
    ASSERT_EQ(read(ends[0], &place, sizeof place), static_cast<ssize_t>(sizeof place));
    if (i % 5 == 0) usleep(2000);  // the worker has to wait
    EXPECT_TRUE(memory.at(place) == piece(i)) << i;
    memory.release();
  }
  int status = 1;
  EXPECT_EQ(waitpid(worker, &status, 0), worker);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(ReportMemory, WaitsForAReleasedSlotWhenAllAreFilled) {
  ReportMemory memory;
  for (size_t i = 0; i < ReportMemory::kSlots; ++i) memory.put("x");
  std::atomic<bool> put{false};
  std::thread worker([&] {
    memory.put("y");
    put = true;
  });
  usleep(20'000);
  EXPECT_FALSE(put);
  memory.release();
  worker.join();
  EXPECT_TRUE(put);
}

TEST(ReportMemory, ImpossiblePlacesAreRefused) {
  const ReportMemory memory;
  EXPECT_TRUE(memory.at(0));
  EXPECT_TRUE(memory.at((ReportMemory::kSlots - 1) << 32 | ReportMemory::kSlotBytes));
  EXPECT_FALSE(memory.at(ReportMemory::kSlots << 32));
  EXPECT_FALSE(memory.at(ReportMemory::kSlotBytes + 1));
  EXPECT_FALSE(memory.at(~uint64_t{0}));
}

}  // namespace
}  // namespace tmeter::core
