#include "core/analysis/assertion.hpp"

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

void check(const std::string& text, const Results& results) {
  check_assertion(parse_assertion(text), results);
}

Results results() {
  Results r;
  Column macs;
  macs.id = "macs";
  macs.cells[TMETER_AXIS_MODEL] = {number(int64_t{4089184256})};
  Column gone;
  gone.id = "gone";
  gone.cells[TMETER_AXIS_MODEL] = {number_of_kind(TMETER_NUMBER_UNKNOWN)};
  r.columns = {macs, gone};
  r.coverage = {"flops", 54, 121, 0, {}};
  return r;
}

TEST(Assertion, HoldsWithUnits) {
  EXPECT_NO_THROW(check("macs<=5G", results()));
  EXPECT_NO_THROW(check("macs == 4089184256", results()));
  EXPECT_NO_THROW(check("macs>3.8GiB", results()));  // 3.8 GiB = 4,080,218,931.2
}

TEST(Assertion, FailureTellsTheActualValue) {
  expect_error(ErrorKind::kAssertion, {"macs<4G", "4089184256"},
               [] { check("macs<4G", results()); });
}

TEST(Assertion, CoverageIsAShare) {
  EXPECT_NO_THROW(check("coverage==100%", results()));
  auto r = results();
  r.coverage.unknown = 1;
  expect_error(ErrorKind::kAssertion, {"coverage"}, [&] { check("coverage==100%", r); });
}

TEST(Assertion, UnknownValueNeverHolds) {
  expect_error(ErrorKind::kAssertion, {"not known"}, [] { check("gone<=5", results()); });
}

TEST(Assertion, NonsenseIsWrongUsage) {
  expect_error(ErrorKind::kUsage, {"did you mean 'macs'"}, [] { check("mac<=5G", results()); });
  for (const auto* text : {"macs", "<=5", "macs<=", "macs<=5X", "macs=>5"}) {
    expect_error(ErrorKind::kUsage, {"--assert"}, [&] { parse_assertion(text); });
  }
}

TEST(Assertion, NamesAreCheckedWithoutLookingAtValues) {
  EXPECT_NO_THROW(require_metric(parse_assertion("macs<4G"), results()));
  EXPECT_NO_THROW(require_metric(parse_assertion("coverage>2"), results()));
  EXPECT_NO_THROW(require_metric(parse_assertion("gone<=5"), results()));
  expect_error(ErrorKind::kUsage, {"did you mean 'macs'"},
               [] { require_metric(parse_assertion("mac<=5G"), results()); });
  expect_error(ErrorKind::kUsage, {"states a coverage"},
               [] { require_metric(parse_assertion("coverage==1"), {}); });
}

}  // namespace
}  // namespace tmeter::core
