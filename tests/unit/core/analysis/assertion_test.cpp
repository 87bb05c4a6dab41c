#include "core/analysis/assertion.hpp"

#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

constexpr int64_t kBeyondDouble = 9007199254740993;  // 2^53 + 1

Results results() {
  Results r;
  Column macs;
  macs.id = "macs";
  macs.cells[TMETER_AXIS_MODEL] = {number(int64_t{4089184256})};
  macs.cells[TMETER_AXIS_MODULE] = {number(int64_t{4089184256}), number(int64_t{812})};
  Column gone;
  gone.id = "gone";
  gone.cells[TMETER_AXIS_MODEL] = {number_of_kind(TMETER_NUMBER_UNKNOWN)};
  Column large;
  large.id = "large";
  large.cells[TMETER_AXIS_MODEL] = {number(kBeyondDouble)};
  r.columns = {macs, gone, large};
  r.coverage = {"flops", 54, 121, 0, {}};
  return r;
}

/// A root with one child, "layer 4".
class Assertions : public ::testing::Test {
 protected:
  Assertions() {
    GraphBuilder builder;
    const auto root = builder.module(0, "", "Net");
    builder.module(root, "layer 4", "Sequential");
    graph = builder.finish();
  }
  AssertionResult run(const std::string& text) const {
    return evaluate(parse_assertion(text), *graph, results_);
  }
  bool holds(const std::string& text) const { return run(text).holds; }

  Results results_ = results();
  std::unique_ptr<Graph> graph;
};

TEST_F(Assertions, UnitsScaleTheBound) {
  EXPECT_TRUE(holds("macs<=5G"));
  EXPECT_TRUE(holds("macs == 4089184256"));
  EXPECT_TRUE(holds("macs>3.8GiB"));  // 3.8 GiB = 4,080,218,931.2
  EXPECT_FALSE(holds("macs < 4 G"));
}

TEST_F(Assertions, EveryUnitHasItsFactor) {
  const std::pair<const char*, double> units[] = {
      {"", 1},         {"K", 1e3},        {"k", 1e3},        {"M", 1e6},      {"G", 1e9},
      {"T", 1e12},     {"B", 1},          {"KB", 1e3},       {"kB", 1e3},     {"MB", 1e6},
      {"GB", 1e9},     {"TB", 1e12},      {"KiB", 1024},     {"MiB", 0x1p20}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}, {"s", 1},          {"ms", 1e-3},      {"us", 1e-6},    {"ns", 1e-9},
      {"min", 60},     {"h", 3600},       {"J", 1},          {"mJ", 1e-3},    {"uJ", 1e-6},
      {"nJ", 1e-9},    {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6}, {"%", 1e-2}};
  for (const auto& [unit, factor] : units)
    EXPECT_DOUBLE_EQ(real(parse_assertion(std::string("m<3 ") + unit).limit), 3 * factor) << unit;
}

TEST_F(Assertions, ALimitThatIsNotANumberIsWrongUsage) {
  for (const char* limit :
       {"nan",  "-nan",  "NaN",    "nan%",   "nan G",  "inf",      "-inf",     "infinity",
        "inf%", "1e999", "-1e999", "1e-999", "9e307T", "1e308KiB", "0x10",     "0x1p3",
        "1,5",  "1 000", "5 5G",   "",       "+",      "-",        "%",        "G",
        "--5",  "+-5",   "1e",     "five",   "\u0665", "5GG",      "5 Gi B x", "1_000"})
    for (const char* op : {"==", "<=", ">=", "!=", "<", ">"})
      expect_error(ErrorKind::kUsage, {"--assert 'macs"},
                   [&] { parse_assertion(std::string("macs") + op + limit); });
  expect_error(ErrorKind::kUsage, {"'nan' is not a number"}, [] { parse_assertion("macs==nan"); });
  expect_error(ErrorKind::kUsage, {"'1e999' is out of range"},
               [] { parse_assertion("macs==1e999"); });
  expect_error(ErrorKind::kUsage, {"unknown unit 'x'", "KiB", "ms", "mJ", "%"},
               [] { parse_assertion("macs==5x"); });
}

TEST_F(Assertions, SeveralBoundsInOneAssertionAreRefused) {
  for (const char* text : {"macs<=5G,params<=3M", "macs<=5G && params<=3M", "macs<=5G and params<3",
                           "macs<=5G; params<=3M", "1G<=macs<=5G", "macs<=5G params<=3M"})
    expect_error(ErrorKind::kUsage, {"one by one, each with its own --assert"},
                 [&] { parse_assertion(text); });
}

TEST_F(Assertions, AUnitThatTheMetricDoesNotHaveIsWrongUsage) {
  results_.columns[0].unit_kind = TMETER_UNIT_OP;
  expect_error(ErrorKind::kUsage, {"a time, which 'macs' is not"}, [&] { run("macs<=5ms"); });
  expect_error(ErrorKind::kUsage, {"an energy, which 'macs' is not"}, [&] { run("macs<=5mJ"); });
  expect_error(ErrorKind::kUsage, {"a share, which 'macs' is not"}, [&] { run("macs<=5%"); });
  results_.columns[0].unit_kind = TMETER_UNIT_SECOND;
  EXPECT_FALSE(holds("macs<=5ms"));
  results_.columns[0].unit_kind = TMETER_UNIT_OTHER;
  EXPECT_FALSE(holds("macs<=5%"));
}

TEST_F(Assertions, FractionsHaveFourDigitsOrEnoughToDifferFromTheLimit) {
  auto& total = results_.columns[0].cells[TMETER_AXIS_MODEL];
  total = {number(0.224606734)};
  expect_error(ErrorKind::kAssertion, {"macs is 0.2246)"}, [&] { require_all({run("macs<0.1")}); });
  expect_error(ErrorKind::kAssertion, {"macs is 0.22461)"},
               [&] { require_all({run("macs<0.2246")}); });
}

TEST_F(Assertions, ValuesAreStatedInTheUnitOfTheLimit) {
  const auto expect_value = [this](const std::string& value, const std::string& text) {
    expect_error(ErrorKind::kAssertion, {"macs is " + value + ")"},
                 [&] { require_all({run(text)}); });
  };
  expect_value("4.089 G", "macs<4G");
  expect_value("4089 M", "macs<12M");
  expect_value("4.0892 G", "macs<4.0891G");
  expect_value("4089184256", "macs<4000000000");
  expect_value("4089184256", "macs<1K");  // a large number of small units
  expect_value("0.004089 T", "macs>1T");
  auto& total = results_.columns[0].cells[TMETER_AXIS_MODEL];
  results_.columns[0].unit_kind = TMETER_UNIT_SECOND;
  total = {number(0.0002768)};
  expect_value("276.8 us", "macs<1us");
  expect_value("0.2768 ms", "macs<0.1ms");
  expect_value("0.0002768", "macs<1e-4");
  results_.columns[0].unit_kind = TMETER_UNIT_RATIO;
  expect_value("0.02768 %", "macs>50%");
}

TEST_F(Assertions, AMetricWithoutALimitIsYesOrNo) {
  expect_error(ErrorKind::kUsage, {"'macs' is 4089184256, not yes (1) or no (0)"},
               [&] { run("macs"); });
  auto& total = results_.columns[0].cells[TMETER_AXIS_MODEL];
  total = {number(int64_t{1})};
  EXPECT_TRUE(holds("macs"));
  total = {number(int64_t{0})};
  EXPECT_FALSE(holds("macs"));
  expect_error(ErrorKind::kAssertion, {"'macs' (macs is 0)"}, [&] { require_all({run("macs")}); });
  total = {number_of_kind(TMETER_NUMBER_UNAVAILABLE)};
  EXPECT_FALSE(holds("macs"));
}

TEST_F(Assertions, AMetricMayBeNamedWithItsPlugin) {
  EXPECT_EQ(parse_assertion("fit.max_batch >= 8").metric, "fit_max_batch");
  EXPECT_EQ(parse_assertion("diff.fit.max_batch >= 8").metric, "fit_max_batch");
}

TEST_F(Assertions, CoverageIsAShareAndUnknownACount) {
  EXPECT_TRUE(holds("coverage==100%"));
  EXPECT_TRUE(holds("unknown == 0"));
  results_.coverage.unknown = 1;
  EXPECT_FALSE(holds("coverage==100%"));
  EXPECT_FALSE(holds("unknown==0"));
  EXPECT_EQ(run("unknown==0").value.i, 1);
}

TEST_F(Assertions, CoverageOfAPluginThatFailedIsNotAvailable) {
  results_.coverage = {};
  expect_error(ErrorKind::kUsage, {"states a coverage"}, [&] { run("coverage==100%"); });
  results_.columns[0].failed = true;
  EXPECT_EQ(run("coverage==100%").value.kind, TMETER_NUMBER_UNAVAILABLE);
  EXPECT_FALSE(holds("unknown==0"));
}

TEST_F(Assertions, BoundsBeyondDoublesAreExact) {
  EXPECT_TRUE(holds("large == 9007199254740993"));
  EXPECT_FALSE(holds("large == 9007199254740992"));
  EXPECT_TRUE(holds("large > 9007199254740992"));
  EXPECT_FALSE(holds("large != 9007199254740993"));
}

TEST_F(Assertions, AModuleIsNamedByItsPath) {
  const auto r = run("module(\"layer 4\").macs < 1K");
  EXPECT_TRUE(r.holds);
  EXPECT_EQ(r.value.i, 812);
  EXPECT_EQ(r.module, 1u);
  EXPECT_EQ(r.metric, 0u);
  EXPECT_FALSE(holds("module('.layer 4').macs>812"));
}

TEST_F(Assertions, AnAssertionOnAnUnknownValueNeverHolds) {
  EXPECT_FALSE(holds("gone<=5"));
  EXPECT_FALSE(holds("gone!=5"));
  EXPECT_FALSE(holds("module('layer 4').large<5"));  // no value there
}

TEST_F(Assertions, ALowerBoundProvesOnlyLowerLimits) {
  auto& total = results_.columns[0].cells[TMETER_AXIS_MODEL];
  total = {number(int64_t{812})};
  total.mark(0, TMETER_NUMBER_PARTIAL);
  EXPECT_FALSE(holds("macs<5G"));  // the missing part may exceed the bound
  EXPECT_FALSE(holds("macs<=812"));
  EXPECT_FALSE(holds("macs==812"));
  EXPECT_FALSE(holds("macs!=813"));
  EXPECT_TRUE(holds("macs>=812"));
  EXPECT_FALSE(holds("macs>812"));
  EXPECT_TRUE(holds("macs>811"));
  EXPECT_TRUE(holds("macs!=811"));
  expect_error(ErrorKind::kAssertion, {"macs is 812 without unknown values"},
               [&] { require_all({run("macs<5G")}); });
}

TEST_F(Assertions, APartialValueThatMayShrinkProvesNoLimit) {
  auto& column = results_.columns[0];
  column.cells[TMETER_AXIS_MODEL].mark(0, TMETER_NUMBER_PARTIAL);
  EXPECT_TRUE(holds("macs>1"));
  column.aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN;
  EXPECT_FALSE(holds("macs>1"));
  column.aggregation = TMETER_AGGREGATE_SUM;
  column.unit_kind = TMETER_UNIT_OTHER;  // may be negative
  EXPECT_FALSE(holds("macs>1"));
}

TEST_F(Assertions, FailedAssertionsAreNamedWithTheirValues) {
  const std::vector<AssertionResult> all{run("macs<4G"), run("macs<5G"), run("gone<=5")};
  expect_error(ErrorKind::kAssertion,
               {"2 of 3", "'macs<4G' (macs is 4.089 G)", "'gone<=5' (gone is not known)"},
               [&] { require_all(all); });
  EXPECT_NO_THROW(require_all({all[1]}));
}

TEST_F(Assertions, NonsenseIsWrongUsage) {
  for (const auto* text :
       {"Macs", "diff.macs", "<=5", "macs<=", "macs<=5X", "macs=>5", "module(layer4).macs<1",
        "module(\"layer4).macs<1", "module(\"layer4\")<1", "module(\"layer4\").<1"}) {
    expect_error(ErrorKind::kUsage, {"--assert"}, [&] { parse_assertion(text); });
  }
}

TEST_F(Assertions, AMisspelledNameGetsTheNearestOne) {
  expect_error(ErrorKind::kUsage, {"did you mean 'macs'"}, [&] { run("mac<=5G"); });
  expect_error(ErrorKind::kUsage, {"no module 'layer 5'", "did you mean 'layer 4'"},
               [&] { run("module('layer 5').macs<1"); });
  expect_error(ErrorKind::kUsage, {"whole model"}, [&] { run("module('layer 4').coverage==1"); });
  results_.coverage.metric.clear();
  expect_error(ErrorKind::kUsage, {"states a coverage"}, [&] { run("coverage==1"); });
}

}  // namespace
}  // namespace tmeter::core
