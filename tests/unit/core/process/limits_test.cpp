#include "core/process/limits.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "tests/support/expect_error.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

TEST(Limits, SizesAndTimesAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("--max-memory", "8GiB"), uint64_t{8} << 30);
  EXPECT_EQ(parse_bytes("--max-memory", "500MB"), 500'000'000u);
  EXPECT_EQ(parse_bytes("--max-memory", "1.5G"), 1'500'000'000u);
  EXPECT_EQ(parse_bytes("--max-memory", "2097152"), 2'097'152u);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "60"), 60);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "500ms"), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "2min"), 120);
}

TEST(Limits, InvalidSizesAndTimesAreRefusedWithTheOption) {
  for (const char* text :
       {"", "much", "8 GiB", "-1GiB", "8GiBs", "nan", "inf", "1e99", "1kB", "0"}) {
    testing::expect_error(ErrorKind::kUsage, {"--max-memory", "8GiB"},
                          [&] { parse_bytes("--max-memory", text); });
  }
  for (const char* text : {"", "soon", "-1", "0", "nan", "1e300", "5 s"}) {
    testing::expect_error(ErrorKind::kUsage, {"--timeout", "500ms"},
                          [&] { parse_seconds("--timeout", text); });
  }
}

TEST(Limits, AreStatedInTheMostReadableUnit) {
  EXPECT_EQ(bytes_text(uint64_t{8} << 30), "8.0 GiB");
  EXPECT_EQ(bytes_text(300'000'000), "286.1 MiB");
  EXPECT_EQ(bytes_text(512), "512 bytes");
  EXPECT_EQ(seconds_text(60), "60 s");
  EXPECT_EQ(seconds_text(0.5), "0.5 s");
}

TEST(Limits, EveryUnitHasItsFactor) {
  const std::pair<const char*, uint64_t> sizes[] = {{"", 1},
                                                    {"B", 1},
                                                    {"k", 1'000},
                                                    {"kB", 1'000},
                                                    {"KiB", 1'024},
                                                    {"M", 1'000'000},
                                                    {"MB", 1'000'000},
                                                    {"MiB", 1'048'576},
                                                    {"G", 1'000'000'000},
                                                    {"GB", 1'000'000'000},
                                                    {"GiB", 1'073'741'824},
                                                    {"TB", 1'000'000'000'000},
                                                    {"TiB", 1'099'511'627'776}};
  for (const auto& [unit, factor] : sizes)
    EXPECT_EQ(parse_bytes("--max-memory", std::string("1048576") + unit), 1'048'576 * factor);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "3s"), 3);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "2h"), 7200);
}

TEST(Limits, HaveAMinimumAndAMaximum) {
  EXPECT_EQ(parse_bytes("--max-memory", "1MiB"), 1u << 20);
  EXPECT_EQ(parse_bytes("--max-memory", "1048576TiB"), uint64_t{1} << 60);
  EXPECT_THROW(parse_bytes("--max-memory", "1048575"), Error);
  EXPECT_THROW(parse_bytes("--max-memory", "1048577TiB"), Error);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "1ms"), 0.001);
  EXPECT_DOUBLE_EQ(parse_seconds("--timeout", "1e9"), 1e9);
  EXPECT_THROW(parse_seconds("--timeout", "0.9ms"), Error);
  EXPECT_THROW(parse_seconds("--timeout", "1000000001"), Error);
  testing::expect_error(ErrorKind::kUsage,
                        {"--timeout soon: a time, as in 60, 500ms or 2min, is expected"},
                        [] { parse_seconds("--timeout", "soon"); });
}

TEST(Limits, UnitsChangeAtTheirFactor) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text((1 << 20) - 1), "1024.0 KiB");
  EXPECT_EQ(bytes_text(1 << 20), "1.0 MiB");
  EXPECT_EQ(bytes_text(uint64_t{1} << 30), "1.0 GiB");
  EXPECT_EQ(bytes_text(uint64_t{2560} << 30), "2560.0 GiB");
}

TEST(Limits, TheDefaultIsHalfTheMachinesMemoryOrEightGiB) {
  std::ifstream facts("/proc/meminfo");
  std::string word;
  uint64_t kibibytes = 0;
  facts >> word >> kibibytes;
  ASSERT_EQ(word, "MemTotal:");
  const auto half = kibibytes * 1024 / 2;
  const auto expected = std::min(half, uint64_t{8} << 30);
  EXPECT_NEAR(static_cast<double>(default_max_memory()), static_cast<double>(expected), 4096);
}

/// 0 if the allocation failed, else the result of `limit_memory(limit)` and of the allocation.
int with_limit(uint64_t limit, size_t allocation) {
  return testing::in_child([=] {
           if (!limit_memory(limit)) return 1;
           void* memory = mmap(nullptr, allocation, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
           return memory == MAP_FAILED ? 2 : 0;
         })
      .status();
}

TEST(Limits, MemoryBeyondTheLimitIsRefusedAndALimitBelowTheUsageIsNotSet) {
  if (!testing::kMemoryIsLimited) GTEST_SKIP();
  EXPECT_EQ(with_limit(uint64_t{1} << 30, size_t{100} << 20), 0);
  EXPECT_EQ(with_limit(uint64_t{1} << 30, size_t{1} << 30), 2);
  EXPECT_EQ(with_limit(4096, 0), 1);
  // Read-only memory, such as the model's file, does not count.
  EXPECT_EQ(testing::in_child([] {
              limit_memory(uint64_t{512} << 20);
              return mmap(nullptr, size_t{1} << 30, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
                     MAP_FAILED;
            }).status(),
            0);
}

/// A limit on private memory, also where the process has more already.
void set_data_limit(uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  EXPECT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
}

TEST(Limits, AFailedAllocationReportsTheLimitInForce) {
  testing::expect_in_child([] {
    EXPECT_EQ(memory_limit(), 0u);
    EXPECT_EQ(out_of_memory_text(), "out of memory");
    set_data_limit(uint64_t{3} << 30);
    EXPECT_EQ(memory_limit(), uint64_t{3} << 30);
    EXPECT_EQ(out_of_memory_text(), "out of memory: more than 3.0 GiB (--max-memory) is needed");
  });
}

TEST(Limits, MemoryIsLeftWhileASixteenthIsAvailable) {
  if (!testing::kMemoryIsLimited) GTEST_SKIP();
  EXPECT_TRUE(has_memory_left());  // without a limit
  const auto done = testing::in_child([] {
    constexpr size_t kLimit = size_t{512} << 20, kPiece = size_t{4} << 20;
    if (!limit_memory(kLimit) || !has_memory_left()) return 2;
    std::array<void*, kLimit / kPiece> pieces{};
    size_t count = 0;
    for (; count < pieces.size(); ++count) {
      pieces[count] = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (pieces[count] == MAP_FAILED) break;
    }
    const auto give_back = [&](size_t n) {
      for (; n > 0; --n) munmap(pieces[--count], kPiece);
    };
    if (has_memory_left()) return 3;
    give_back(5);  // less than 24 MiB of 32
    if (has_memory_left()) return 4;
    give_back(4);  // at least 36 MiB
    return has_memory_left() && has_memory_left() ? 0 : 5;
  });
  EXPECT_EQ(done.status(), 0);
}

}  // namespace
}  // namespace tmeter::core
