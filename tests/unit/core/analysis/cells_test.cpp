// The values of a table, stored in nine bytes each.
#include "core/analysis/cells.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "core/analysis/results.hpp"

namespace tmeter::core {
namespace {

void expect_same(const tmeter_number& a, const tmeter_number& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.i, b.i);
  EXPECT_EQ(std::bit_cast<uint64_t>(a.f), std::bit_cast<uint64_t>(b.f));
}

TEST(Cells, ReturnTheStoredNumbers) {
  using Real = std::numeric_limits<double>;
  using Integer = std::numeric_limits<int64_t>;
  std::vector<tmeter_number> numbers;
  for (const auto i : {int64_t{0}, int64_t{-1}, Integer::min(), Integer::max()})
    numbers.push_back(number(i));
  for (const auto f : {0.0, -0.0, 0.1, Real::infinity(), -Real::infinity(), Real::quiet_NaN(),
                       Real::denorm_min(), Real::max()})
    numbers.push_back(number(f));
  for (const auto kind : {TMETER_NUMBER_NONE, TMETER_NUMBER_ZERO_BY_RULE, TMETER_NUMBER_UNKNOWN,
                          TMETER_NUMBER_UNAVAILABLE, TMETER_NUMBER_IN_MODULE})
    numbers.push_back(number_of_kind(kind));
  for (const auto flags : {0u, 1u, 2u, 3u}) {
    Cells cells;
    cells.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i].flags = flags;
      cells.set(i, numbers[i]);
    }
    for (size_t i = 0; i < numbers.size(); ++i) expect_same(cells[i], numbers[i]);
  }
}

TEST(Cells, HaveNoNumberUntilOneIsSet) {
  Cells cells;
  EXPECT_TRUE(cells.empty());
  size_t before = 0;
  for (const size_t size : {3u, 1000u, 2u, 5000u, 0u, 1000u}) {
    cells.resize(size);  // shrinks and grows again: removed cells do not come back
    for (size_t i = 0; i < size; ++i)
      expect_same(cells[i], i < before ? number(7.0) : tmeter_number{});
    for (size_t i = 0; i < size; ++i) cells.set(i, number(7.0));
    before = size;
  }
}

TEST(Cells, LoseTheirNumberWhenAKindIsSet) {
  Cells cells{number(int64_t{812}), number(0.5)};
  for (size_t i = 0; i < cells.size(); ++i) cells.set(i, number_of_kind(TMETER_NUMBER_UNKNOWN));
  for (size_t i = 0; i < cells.size(); ++i)
    expect_same(cells[i], number_of_kind(TMETER_NUMBER_UNKNOWN));
}

TEST(Cells, GrowOneByOneAndAreCopied) {
  Cells cells;
  for (int64_t i = 0; i < 1000; ++i) cells.add(number(i));
  auto copy = cells;
  copy.set(0, number(int64_t{5}));
  copy.mark(1, TMETER_NUMBER_PARTIAL);
  EXPECT_EQ(cells[0].i, 0);
  EXPECT_FALSE(is_partial(cells[1]));
  EXPECT_TRUE(is_partial(copy[1]));
  EXPECT_EQ(copy[1].i, 1);
  EXPECT_EQ(copy[999].i, 999);
  copy.assign(2, number_of_kind(TMETER_NUMBER_IN_MODULE));
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(copy.kind(1), TMETER_NUMBER_IN_MODULE);
}

}  // namespace
}  // namespace tmeter::core
