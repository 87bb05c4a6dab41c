#include "core/process/limits.hpp"

#include <unistd.h>

#include "tests/support/expect_error.hpp"

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

TEST(Limits, WhatIsNoSizeOrTimeIsRefusedWithTheOption) {
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

TEST(Limits, AreToldInTheUnitThatReadsBest) {
  EXPECT_EQ(bytes_text(uint64_t{8} << 30), "8.0 GiB");
  EXPECT_EQ(bytes_text(300'000'000), "286.1 MiB");
  EXPECT_EQ(bytes_text(512), "512 bytes");
  EXPECT_EQ(seconds_text(60), "60 s");
  EXPECT_EQ(seconds_text(0.5), "0.5 s");
}

TEST(Limits, OwnMemoryGrowsWithWhatIsTouched) {
  const auto before = own_memory(getpid());
  const std::string block(64 << 20, 'x');
  const auto after = own_memory(getpid());
  EXPECT_GE(after - before, uint64_t{60} << 20) << block.size();
  EXPECT_EQ(own_memory(1 << 30), 0u);  // no such process
}

}  // namespace
}  // namespace tmeter::core
