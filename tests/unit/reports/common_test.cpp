// What report writers share.
#include <gtest/gtest.h>

#include <cmath>

#include "plugins/reports/common/columns.hpp"
#include "plugins/reports/common/describe.hpp"
#include "plugins/reports/common/figures.hpp"
#include "plugins/reports/common/lower_bounds.hpp"
#include "plugins/reports/common/names.hpp"
#include "plugins/reports/common/rows.hpp"
#include "plugins/reports/common/utf8.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

using reports::Reading;
using tmeter::Cell;
using tmeter::Count;

TEST(Figures, SixKindsReadDifferently) {
  fake::FakeReport r;
  r.metric({.id = "macs", .title = "MACs"});
  const auto metric = r.report().metrics()[0];
  const auto shown = [&](Cell c, bool partial = false) {
    return reports::shown({c, partial}, metric);
  };
  EXPECT_EQ(shown(Count(25557032)), "25.56 M");
  EXPECT_EQ(shown(Count(0)), "0");
  EXPECT_EQ(shown(Cell::zero_by_rule()), "0ʳ");
  EXPECT_EQ(shown(Count(25557032), true), "≥25.56 M");
  EXPECT_EQ(shown(Cell::zero_by_rule(), true), "≥0");
  EXPECT_EQ(shown(Cell::unsupported()), "?");
  EXPECT_EQ(shown(Cell::unavailable()), "n/a");
  EXPECT_EQ(shown(Cell()), "–");
  EXPECT_EQ(reports::shown_in_full({Count(9007199254740993), false}, metric),
            "9,007,199,254,740,993");
}

TEST(Figures, StatusSaysWhatANumberCannot) {
  EXPECT_FALSE(reports::status_of({Count(1), false}));
  EXPECT_FALSE(reports::status_of({Cell(), false}));
  EXPECT_EQ(reports::status_of({Count(1), true}), "lower_bound");
  EXPECT_EQ(reports::status_of({Cell::zero_by_rule(), false}), "zero_by_rule");
  EXPECT_EQ(reports::status_of({Cell::zero_by_rule(), true}), "lower_bound");
  EXPECT_EQ(reports::status_of({Cell::unsupported(), false}), "unknown");
  EXPECT_EQ(reports::status_of({Cell::unavailable(), false}), "unavailable");
  EXPECT_EQ(reports::status_of({Cell(HUGE_VAL), false}), "not_finite");
}

TEST(LowerBounds, EveryModuleAroundAnUnknownOperatorIsOne) {
  fake::FakeReport r;
  auto* root = r.module(nullptr, "", "Net");
  auto* a = r.module(root, "a", "A");
  auto* inner = r.module(a, "inner", "B");
  auto* b = r.module(root, "b", "B");
  const auto macs = r.metric({.id = "macs"});
  r.node(inner, "acme::x");
  r.node(b, "aten::relu");
  r.set(macs, TMETER_AXIS_NODE, 0, fake::unknown());
  for (size_t i = 0; i < 4; ++i) r.set(macs, TMETER_AXIS_MODULE, i, fake::integer(1));
  const auto report = r.report();
  const reports::LowerBounds bounds(report, reports::all_metrics(report));
  EXPECT_TRUE(bounds.partial(0, 0));
  EXPECT_TRUE(bounds.partial(1, 0));
  EXPECT_TRUE(bounds.partial(2, 0));
  EXPECT_FALSE(bounds.partial(3, 0));
  EXPECT_TRUE(bounds.reading(report, report.graph().modules()[1], 0).partial);
}

TEST(Utf8, PrintableRepairedShortened) {
  EXPECT_EQ(reports::printable("a\x1b[31m\tb\xff"), "a\uFFFD[31m b\uFFFD");
  EXPECT_EQ(reports::printable("\u202Ex"), "\uFFFDx");
  EXPECT_EQ(reports::repaired("a\x01\xff\tb"), "a\x01\uFFFD\tb");
  EXPECT_EQ(reports::shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(reports::shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(reports::shortened("äöüß", 4), "äöüß");
  EXPECT_EQ(reports::shortened("äöüßé", 4), "äöü…");
}

TEST(Names, NumbersOfALaterAbiReadOther) {
  EXPECT_EQ(reports::axis_name(TMETER_AXIS_MODEL), "model");
  EXPECT_EQ(reports::axis_name(99), "other");
  EXPECT_EQ(reports::severity_name(-1), "other");
  EXPECT_EQ(reports::tensor_kind_name(TMETER_TENSOR_BUFFER), "buffer");
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
