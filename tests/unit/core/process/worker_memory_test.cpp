#include "core/process/worker_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMuch = 64 << 20, kAbout = 4 << 20;

/// The growth of a process during `take`, in a process of its own.
void expect_growth(const std::function<void()>& take, double bytes) {
  testing::expect_in_child([&] {
    const auto before = worker_memory(getpid());
    take();
    EXPECT_NEAR(static_cast<double>(worker_memory(getpid()) - before), bytes, kAbout);
  });
}

void* map(size_t size, int flags) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return memory;
}

TEST(WorkerMemory, CountsTouchedPrivateAndSharedPages) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  for (const int flags : {MAP_PRIVATE, MAP_SHARED})
    expect_growth([&] { std::memset(map(kMuch, flags), 1, kMuch); }, kMuch);
  EXPECT_EQ(worker_memory(1 << 30), 0u);  // no such process
}

TEST(WorkerMemory, PageTablesCount) {
  if (!testing::kMemoryIsLimited) GTEST_SKIP();
  // A page of zeros in each 2 MiB takes no memory except a page table of 4 KiB.
  constexpr size_t kStride = 2 << 20, kTables = kMuch / 4096;
  expect_growth(
      [] {
        auto* const memory = static_cast<volatile const char*>(map(kTables * kStride, MAP_PRIVATE));
        madvise(const_cast<char*>(memory), kTables * kStride, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < kTables; ++i) (void)memory[i * kStride];
      },
      kMuch);
}

TEST(WorkerMemory, SystemVSegmentsCountAttachedOrNot) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  expect_growth(
      [] {
        const int id = shmget(IPC_PRIVATE, kMuch, IPC_CREAT | 0600);
        if (id < 0) return;
        void* const memory = shmat(id, nullptr, 0);
        std::memset(memory, 1, kMuch);
        shmdt(memory);
        const auto with = worker_memory(getpid());
        shmctl(id, IPC_RMID, nullptr);
        EXPECT_NEAR(static_cast<double>(with - worker_memory(getpid())), kMuch, kAbout);
      },
      0);
}

}  // namespace
}  // namespace tmeter::core
