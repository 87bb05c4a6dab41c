// The points of a sweep, and refused ones.
#include "core/symbolic/sweep.hpp"

#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

std::unique_ptr<Graph> graph_with(const std::vector<std::string>& symbols) {
  GraphBuilder b;
  for (const auto& s : symbols) b.symbol(s, 1, 20'000, 8);
  return b.finish();
}

std::vector<int64_t> first(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 1; i <= n; ++i) out.push_back(i);
  return out;
}

TEST(Sweep, OfTwoSymbolsIsEveryPair) {
  const auto graph = graph_with({"a", "b", "c"});
  const auto sweep = plan_sweep(*graph, {{"c", {3, 1}}, {"a", {7, 9}}}, {{"b", 2}});
  EXPECT_EQ(sweep.symbols, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(sweep.points, (std::vector<std::vector<int64_t>>{{3, 7}, {3, 9}, {1, 7}, {1, 9}}));
}

TEST(Sweep, IsEmptyWithoutAxes) {
  EXPECT_TRUE(plan_sweep(*graph_with({}), {}, {}).symbols.empty());
}

TEST(Sweep, TheNumberOfPointsIsLimited) {
  const auto graph = graph_with({"a", "b"});
  EXPECT_EQ(plan_sweep(*graph, {{"a", first(10'000)}}, {}).points.size(), 10'000U);
  const auto refused = [&](const std::vector<SweepAxis>& axes) {
    expect_error(ErrorKind::kUsage, {"--sweep", "10000"}, [&] { plan_sweep(*graph, axes, {}); });
  };
  refused({{"a", first(10'001)}});
  refused({{"a", first(101)}, {"b", first(100)}});
}

TEST(Sweep, MistakesNameSymbolAndValue) {
  const auto graph = graph_with({"a", "b"});
  const auto refused = [&](const std::vector<std::string>& words,
                           const std::vector<SweepAxis>& axes) {
    expect_error(ErrorKind::kUsage, words, [&] { plan_sweep(*graph, axes, {{"b", 2}}); });
  };
  refused({"no symbol 'x'", "a, b"}, {{"x", {1}}});
  refused({"--sweep a=20001", "1…20000"}, {{"a", {1, 20001}}});
  refused({"a", "5 is given twice"}, {{"a", {5, 6, 5}}});
  refused({"a", "swept twice"}, {{"a", {5}}, {"a", {6}}});
  refused({"b", "--bind"}, {{"b", {5}}});
  refused({"at most 2"}, {{"a", {5}}, {"b", {5}}, {"a", {5}}});
  expect_error(ErrorKind::kUsage, {"fixed", "dynamic_shapes"}, [&] {
    plan_sweep(*graph_with({}), {{"a", {1}}}, {});
  });
}

}  // namespace
}  // namespace tmeter::core
