// Roll-ups, by hand on a small tree: root → a (called twice), b; and a tied tensor.
#include "core/analysis/rollup.hpp"

#include <gtest/gtest.h>
#include <tmeter/abi/graph.h>

#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {

/// Calls: root(0) → a(1), b(2), a(3). One node in each, in that order.
std::unique_ptr<Graph> tree() {
  GraphBuilder g;
  const auto root = g.module(0, "", "Net"), a = g.module(root, "a", "A"),
             b = g.module(root, "b", "B");
  const auto top = g.module_call(root, 0);
  const uint32_t calls[] = {top, g.module_call(a, top), g.module_call(b, top),
                            g.module_call(a, top)};
  for (const auto call : calls) g.node("aten::x", "", call, {}, {}, "");
  for (const auto* name : {"a.w", "b.w"}) {
    TensorSpec s;
    s.name = name;
    s.owner = name[0] == 'a' ? a : b;
    s.storage_key = "shared";
    g.tensor(s);
  }
  return g.finish();
}

Column node_column(std::vector<tmeter_number> cells, int32_t aggregation = TMETER_AGGREGATE_SUM) {
  Column c;
  c.id = "m";
  c.aggregation = aggregation;
  c.cells[TMETER_AXIS_NODE] = std::move(cells);
  return c;
}

TEST(Rollup, ModuleIsTheSumOverItsCallsAndTheModelOfAll) {
  const auto g = tree();
  auto c = node_column(
      {number(int64_t{1}), number(int64_t{10}), number(int64_t{100}), number(int64_t{1000})});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).i, 1111);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 1010);  // a, two calls
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 100);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 1111);
}

TEST(Rollup, UnknownIsNeverZero) {
  const auto g = tree();
  const auto unknown = number_of_kind(TMETER_NUMBER_UNKNOWN);
  auto c = node_column(
      {number(int64_t{1}), unknown, number_of_kind(TMETER_NUMBER_ZERO_BY_RULE), unknown});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).kind, TMETER_NUMBER_INT);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 0);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 1);
}

TEST(Rollup, MaximumAndMean) {
  const auto g = tree();
  const std::vector<tmeter_number> cells{number(1.0), number(5.0), number(2.0), number(4.0)};
  auto max = node_column(cells, TMETER_AGGREGATE_MAX);
  roll_up_nodes(*g, {}, max);
  EXPECT_EQ(max.cell(TMETER_AXIS_MODEL, 0).f, 5.0);
  auto mean = node_column(cells, TMETER_AGGREGATE_WEIGHTED_MEAN);
  roll_up_nodes(*g, {}, mean);
  EXPECT_EQ(mean.cell(TMETER_AXIS_MODULE, 1).f, 4.5);
}

TEST(Rollup, ModuleHandlerStandsForItsInside) {
  const auto g = tree();
  auto c = node_column({number(int64_t{1}), {}, number(int64_t{100}), {}});
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, number(int64_t{7}), {}, number(int64_t{7})};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 14);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 115);
}

TEST(Rollup, ContainerThatIsNeverCalledStandsForItsInside) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), list = b.module(root, "layers", "ModuleList");
  const auto inner = b.module(list, "0", "Linear");
  const auto top = b.module_call(root, 0);
  b.node("aten::linear", "", b.module_call(inner, top), {}, {}, "");
  const auto g = b.finish();
  auto c = node_column({number(int64_t{42})});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 42);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 42);
}

TEST(Rollup, SumOfNothingIsZero) {
  const auto g = GraphBuilder().finish();
  Column c;
  roll_up_tensors(*g, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_INT);
}

TEST(Rollup, SumBeyond63BitsIsAnErrorNamingTheMetric) {
  const auto g = tree();
  auto c = node_column({number(INT64_MAX), number(int64_t{1}), {}, {}});
  testing::expect_error(ErrorKind::kModel, {"'m'", "2^63"}, [&] { roll_up_nodes(*g, {}, c); });
}

TEST(Rollup, TiedTensorCountsOnceInTheModelButInEachOwner) {
  const auto g = tree();
  Column c;
  c.axis = TMETER_AXIS_TENSOR;
  c.cells[TMETER_AXIS_TENSOR] = {number(int64_t{40}), number(int64_t{40})};
  roll_up_tensors(*g, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 40);
}

}  // namespace
}  // namespace tmeter::core
