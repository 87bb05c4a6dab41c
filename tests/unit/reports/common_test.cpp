// Code shared by report writers.
#include <gtest/gtest.h>

#include <cmath>

#include "plugins/common/utf8.hpp"
#include "plugins/common/wording.hpp"
#include "plugins/reports/common/cells.hpp"
#include "plugins/reports/common/columns.hpp"
#include "plugins/reports/common/describe.hpp"
#include "plugins/reports/common/rows.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

using tmeter::Cell;
using tmeter::Count;

tmeter::Metric metric_of(fake::FakeReport& r, int32_t aggregation = TMETER_AGGREGATE_SUM) {
  r.metric({.id = "macs", .title = "MACs", .aggregation = aggregation});
  return r.report().metrics()[r.metrics.size() - 1];
}

TEST(Values, EveryKindIsShownDifferently) {
  fake::FakeReport r;
  const auto metric = metric_of(r);
  const auto shown = [&](const Cell& c) { return reports::shown(c, metric); };
  EXPECT_EQ(shown(Count(25557032)), "25.56 M");
  EXPECT_EQ(shown(Count(0)), "0");
  EXPECT_EQ(shown(Cell::zero_by_rule()), "0ʳ");
  EXPECT_EQ(shown(Cell(Count(25557032)).as_partial()), "≥25.56 M");
  EXPECT_EQ(shown(Cell::zero_by_rule().as_partial()), "≥0");
  EXPECT_EQ(shown(Cell::unsupported()), "?");
  EXPECT_EQ(shown(Cell::unavailable()), "n/a");
  EXPECT_EQ(shown(Cell()), "–");
  EXPECT_EQ(reports::shown_in_full(Count(9007199254740993), metric), "9,007,199,254,740,993");
  EXPECT_EQ(reports::shown_in_full(Cell(Count(1234)).as_partial(), metric), "≥1,234");
}

TEST(Values, APartialMeanIsNotABound) {
  fake::FakeReport r;
  const auto mean = metric_of(r, TMETER_AGGREGATE_WEIGHTED_MEAN);
  EXPECT_EQ(reports::shown(Cell(2.5).as_partial(), mean), "≈2.50");
  EXPECT_EQ(reports::status_of(Cell(2.5).as_partial(), mean), "partial");
}

TEST(Values, StatusDescribesMissingAndPartialValues) {
  fake::FakeReport r;
  const auto metric = metric_of(r);
  const auto status = [&](const Cell& c) { return reports::status_of(c, metric); };
  EXPECT_FALSE(status(Count(1)));
  EXPECT_FALSE(status(Cell()));
  EXPECT_EQ(status(Cell(Count(1)).as_partial()), "lower_bound");
  EXPECT_EQ(status(Cell::zero_by_rule()), "zero_by_rule");
  EXPECT_EQ(status(Cell::zero_by_rule().as_partial()), "lower_bound");
  EXPECT_EQ(status(Cell::unsupported()), "unknown");
  EXPECT_EQ(status(Cell::unsupported().as_partial()), "unknown");
  EXPECT_EQ(status(Cell::unavailable()), "unavailable");
  EXPECT_EQ(status(Cell(HUGE_VAL)), "not_finite");
}

TEST(Values, GroupsWithMissingValuesArePartial) {
  const auto sum = [](const std::vector<Cell>& cells) {
    reports::Accumulator a;
    for (const auto& c : cells) a.add(c);
    return a.result();
  };
  const Cell seven = Count(7);
  EXPECT_FALSE(sum({seven, seven}).partial());
  EXPECT_TRUE(sum({seven, Cell::unsupported()}).partial());
  EXPECT_TRUE(sum({seven, Cell::unavailable()}).partial());
  EXPECT_TRUE(sum({seven, seven.as_partial()}).partial());
  EXPECT_EQ(sum({seven, seven.as_partial()}).count(), Count(14));
  EXPECT_TRUE(sum({Cell::zero_by_rule(), Cell::unsupported()}).is_unknown());
  EXPECT_TRUE(sum({Cell::unavailable(), Cell()}).is_unavailable());
  EXPECT_TRUE(sum({Cell::zero_by_rule(), Cell()}).is_zero_by_rule());
}

TEST(Utf8, PrintableRepairedShortened) {
  EXPECT_EQ(plugins::printable("a\x1b[31m\tb\xff"), "a\uFFFD[31m b\uFFFD");
  EXPECT_EQ(plugins::printable("\u202Ex"), "\uFFFDx");
  EXPECT_EQ(plugins::repaired("a\x01\xff\tb"), "a\x01\uFFFD\tb");
  EXPECT_EQ(plugins::shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(plugins::shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(plugins::shortened("äöüß", 4), "äöüß");
  EXPECT_EQ(plugins::shortened("äöüßé", 4), "äöü…");
}

TEST(Utf8, NoCharacterThatTurnsTextOrBreaksALineIsPrintable) {
  for (const char* control :
       {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u2066", "\uFEFF", "\u0085"})
    EXPECT_EQ(plugins::printable(control), "\uFFFD");
  for (const char* plain : {"\u00A0", "\u200D", "\u2030", "\u2065", "\U0001F600"})
    EXPECT_EQ(plugins::printable(plain), plain);
}

TEST(Wording, NumbersAndLists) {
  EXPECT_EQ(plugins::percent(0.1234), "12.3 %");
  EXPECT_EQ(plugins::count_of(0, "tensor"), "0 tensors");
  EXPECT_EQ(plugins::count_of(1, "tensor"), "1 tensor");
  const auto name = [](size_t i) { return std::string(1, static_cast<char>('a' + i)); };
  EXPECT_EQ(plugins::listed(2, 3, name), "a, b");
  EXPECT_EQ(plugins::listed(3, 2, name), "a, b and 1 more");
  EXPECT_EQ(plugins::listed(0, 2, name), "");
}

TEST(Rows, DepthLimitsTheTree) {
  fake::FakeReport r;
  auto* root = r.module(nullptr, "", "Net");
  r.module(r.module(root, "a", "A"), "inner", "B");
  const auto count = [&] {
    size_t rows = 0;
    reports::for_each_row(r.report(), {}, {}, [&](const reports::Row&) { ++rows; });
    return rows;
  };
  EXPECT_EQ(count(), 3u);
  r.views = {{"depth", "1"}};
  EXPECT_EQ(count(), 2u);
  r.views = {{"by", "nonsense"}};
  EXPECT_THROW(count(), tmeter::Error);
}

}  // namespace
