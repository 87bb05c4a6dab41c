// Roll-ups, by hand on a small tree: root → a (called twice), b; and a tied tensor.
#include "core/analysis/rollup.hpp"

#include <gtest/gtest.h>
#include <tmeter/abi/graph.h>

#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using Id = GraphBuilder::Id;

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

Column node_column(Cells cells, int32_t aggregation = TMETER_AGGREGATE_SUM) {
  Column c;
  c.id = "m";
  c.aggregation = aggregation;
  c.cells[TMETER_AXIS_NODE] = std::move(cells);
  return c;
}

TEST(Rollup, AModuleIsTheSumOfItsCallsAndTheModelTheSumOfAll) {
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

TEST(Rollup, AnIncompleteValueIsMarkedPartial) {
  const auto g = tree();  // root → a (called twice), b
  const auto unknown = number_of_kind(TMETER_NUMBER_UNKNOWN),
             unavailable = number_of_kind(TMETER_NUMBER_UNAVAILABLE);
  const auto partial = [&](Cells cells, int32_t aggregation) {
    auto c = node_column(std::move(cells), aggregation);
    roll_up_nodes(*g, {}, c);
    EXPECT_EQ(is_partial(c.cell(TMETER_AXIS_MODEL, 0)), is_partial(c.cell(TMETER_AXIS_MODULE, 0)));
    EXPECT_FALSE(is_partial(c.cell(TMETER_AXIS_MODULE, 2)));
    return std::pair(is_partial(c.cell(TMETER_AXIS_MODEL, 0)),
                     is_partial(c.cell(TMETER_AXIS_MODULE, 1)));
  };
  const auto one = number(int64_t{1});
  for (const auto a :
       {TMETER_AGGREGATE_SUM, TMETER_AGGREGATE_MAX, TMETER_AGGREGATE_WEIGHTED_MEAN}) {
    EXPECT_EQ(partial({one, one, one, unknown}, a), std::pair(true, true));
    EXPECT_EQ(partial({one, one, one, unavailable}, a), std::pair(true, true));
    EXPECT_EQ(partial({unknown, one, one, one}, a), std::pair(true, false));
    EXPECT_EQ(partial({one, one, one, {}}, a), std::pair(false, false));
  }
}

TEST(Rollup, AnOperatorThatIsItselfPartialMakesPartialSums) {
  const auto g = tree();
  auto at_least = number(int64_t{5});
  at_least.flags = TMETER_NUMBER_PARTIAL;
  auto c = node_column({number(int64_t{1}), {}, at_least, {}});
  roll_up_nodes(*g, {}, c);
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODULE, 2)));
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 5);
}

TEST(Rollup, ZerosByRuleLeaveAnUnknownSumUnknown) {
  const auto g = tree();
  const auto unknown = number_of_kind(TMETER_NUMBER_UNKNOWN),
             zero = number_of_kind(TMETER_NUMBER_ZERO_BY_RULE);
  auto c = node_column({zero, unknown, unknown, zero});
  roll_up_nodes(*g, {}, c);
  for (const size_t m : {0, 1, 2}) EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, m).kind, unknown.kind);
}

TEST(Rollup, TheLastValueIsUnknownIfTheLastOperatorHasNone) {
  const auto g = tree();
  const auto unknown = number_of_kind(TMETER_NUMBER_UNKNOWN);
  const auto one = number(int64_t{1}), two = number(int64_t{2});
  auto c = node_column({one, one, two, unknown}, TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 2);
  c = node_column({one, unknown, unknown, two}, TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 2);
  EXPECT_FALSE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));  // earlier contents do not matter
}

TEST(Rollup, MaximumAndMean) {
  const auto g = tree();
  const Cells cells{number(1.0), number(5.0), number(2.0), number(4.0)};
  auto max = node_column(cells, TMETER_AGGREGATE_MAX);
  roll_up_nodes(*g, {}, max);
  EXPECT_EQ(max.cell(TMETER_AXIS_MODEL, 0).f, 5.0);
  auto mean = node_column(cells, TMETER_AGGREGATE_WEIGHTED_MEAN);
  roll_up_nodes(*g, {}, mean);
  EXPECT_EQ(mean.cell(TMETER_AXIS_MODULE, 1).f, 4.5);
}

TEST(Rollup, TheWorstMissingValueIsReported) {
  const auto total = [](std::vector<int32_t> kinds) {
    GraphBuilder b;
    const auto call = b.module_call(b.module(0, "", "Net"), 0);
    Cells cells;
    for (const auto kind : kinds) {
      b.node("aten::x", "", call, {}, {}, "");
      cells.add(number_of_kind(kind));
    }
    auto c = node_column(cells);
    roll_up_nodes(*b.finish(), {}, c);
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).kind, c.cell(TMETER_AXIS_MODULE_CALL, 0).kind);
    return c.cell(TMETER_AXIS_MODULE_CALL, 0).kind;
  };
  constexpr auto kUnknown = TMETER_NUMBER_UNKNOWN, kUnavailable = TMETER_NUMBER_UNAVAILABLE,
                 kZero = TMETER_NUMBER_ZERO_BY_RULE;
  EXPECT_EQ(total({kUnavailable, kUnknown, kZero}), kUnknown);
  EXPECT_EQ(total({kUnavailable, kZero}), kUnavailable);
  EXPECT_EQ(total({kZero, kZero}), TMETER_NUMBER_INT);
  EXPECT_EQ(total({TMETER_NUMBER_NONE}), TMETER_NUMBER_NONE);
}

TEST(Rollup, ModelOfUnavailableNodesIsUnavailable) {
  const auto g = tree();
  auto c = node_column({number_of_kind(TMETER_NUMBER_UNAVAILABLE), {}, {}, {}});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).kind, TMETER_NUMBER_UNAVAILABLE);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_UNAVAILABLE);
}

TEST(Rollup, IntegersAndRealNumbersAddUp) {
  const auto g = tree();
  auto c = node_column({number(int64_t{1}), number(2.5), number(int64_t{4}), {}});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_FLOAT);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, 7.5);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).kind, TMETER_NUMBER_INT);
}

TEST(Rollup, MaximumOfNegativeNumbersIsNotZero) {
  const auto g = tree();
  auto c = node_column({number(-4.0), number(int64_t{-3}), number(-5.0), number(-6.0)},
                       TMETER_AGGREGATE_MAX);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).i, -3);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, -3);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).f, -5.0);
}

TEST(Rollup, TheMaximumOfNoValuesIsEmpty) {
  const auto g = tree();
  auto c = node_column({}, TMETER_AGGREGATE_MAX);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_NONE);
}

TEST(Rollup, TheLastValueIsThatOfTheOperatorThatRanLast) {
  const auto g = tree();
  auto c = node_column(
      {number(int64_t{1}), number(int64_t{10}), number(int64_t{100}), number(int64_t{1000})},
      TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).i, 1000);  // neither the root's own node nor call 1
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 1000);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 100);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 1000);
}

TEST(Rollup, TheLastValueOfACallMayBeThatOfItsOwnNode) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), a = b.module(root, "a", "A");
  const auto inner = b.module(a, "inner", "Inner"), other = b.module(a, "other", "Inner");
  const auto top = b.module_call(root, 0), call = b.module_call(a, top);
  const Id order[] = {b.module_call(other, call), b.module_call(inner, call), call, top};
  for (const auto c : {order[1], order[0], order[2], order[3]})
    b.node("aten::x", "", c, {}, {}, "");
  const auto g = b.finish();
  auto c =
      node_column({number(int64_t{1}), number(int64_t{2}), number(int64_t{3}), number(int64_t{4})},
                  TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).i, 4);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 1).i, 3);
  // Without them, it is the node of `other`, which ran after that of `inner`.
  c = node_column({number(int64_t{1}), number(int64_t{2}), {}, {}}, TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 1).i, 2);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 2);
}

/// Weights of the nodes 1, 2, 0, 3, rolled up.
Results weighed(const Graph& g) {
  Results r;
  r.columns.push_back(node_column(
      {number(int64_t{1}), number(int64_t{2}), number(int64_t{0}), number(int64_t{3})}));
  r.columns[0].id = "weights";
  roll_up_nodes(g, {}, r.columns[0]);
  return r;
}

TEST(Rollup, MeanIsWeightedByItsMetric) {
  const auto g = tree();
  auto c = node_column({number(7.0), number(1.0), number(5.0), number(2.0)},
                       TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  roll_up_nodes(*g, weighed(*g), c);
  const auto all = (1 * 7.0 + 2 * 1.0 + 3 * 2.0) / (1 + 2 + 3);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).f, all);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).f, all);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, all);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 3).f, 2.0);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).f, (2 * 1.0 + 3 * 2.0) / (2 + 3));  // a, called twice
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).kind, TMETER_NUMBER_NONE);          // weighs nothing
}

TEST(Rollup, MeanOfModulesIsThatOfTheirNodesHoweverTheyAreNested) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), a = b.module(root, "a", "A"),
             inner = b.module(a, "inner", "B");
  const auto top = b.module_call(root, 0), outer = b.module_call(a, top);
  for (const auto call : {top, outer, b.module_call(inner, outer)})
    b.node("aten::x", "", call, {}, {}, "");
  const auto g = b.finish();
  Results r;
  r.columns.push_back(node_column({number(int64_t{1}), number(int64_t{5}), number(int64_t{2})}));
  r.columns[0].id = "weights";
  roll_up_nodes(*g, {}, r.columns[0]);
  // The node of `a` itself has no value, so its weight, 5, does not count.
  auto c = node_column({number(4.0), {}, number(10.0)}, TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  roll_up_nodes(*g, r, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).f, 10.0);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, (1 * 4.0 + 2 * 10.0) / (1 + 2));
  // Zero by rule counts like any other value.
  c = node_column({number(4.0), number_of_kind(TMETER_NUMBER_ZERO_BY_RULE), number(10.0)},
                  TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  roll_up_nodes(*g, r, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, (1 * 4.0 + 5 * 0.0 + 2 * 10.0) / (1 + 5 + 2));
}

TEST(Rollup, AValueWithoutAWeightIsMissing) {
  const auto g = tree();
  Results r = weighed(*g);
  r.columns[0].cells[TMETER_AXIS_NODE].set(1, number_of_kind(TMETER_NUMBER_UNKNOWN));
  auto c = node_column({number(7.0), number(1.0), number(5.0), number(2.0)},
                       TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  roll_up_nodes(*g, r, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, (1 * 7.0 + 3 * 2.0) / (1 + 3));
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
}

TEST(Rollup, WithoutAggregationNothingIsRolledUp) {
  const auto g = tree();
  auto c = node_column({number(1.0)}, TMETER_AGGREGATE_NONE);
  roll_up_nodes(*g, {}, c);
  EXPECT_TRUE(c.cells[TMETER_AXIS_MODEL].empty());
  c.cells[TMETER_AXIS_TENSOR] = {number(1.0)};
  roll_up_tensors(*g, {}, c);
  EXPECT_TRUE(c.cells[TMETER_AXIS_MODEL].empty());
}

TEST(Rollup, AColumnMayHaveFewerCellsThanNodes) {
  const auto g = tree();
  auto c = node_column({number(int64_t{1}), number(int64_t{10})});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 11);
}

tmeter_number by_module(tmeter_number n) {
  n.flags |= TMETER_NUMBER_BY_MODULE;
  return n;
}

TEST(Rollup, TheValueOfAModuleReplacesTheValuesInside) {
  const auto g = tree();
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  const auto seven = by_module(number(int64_t{7}));
  auto c = node_column({number(int64_t{1}), inside, number(int64_t{100}), inside});
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, seven, {}, seven};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 14);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 115);
  EXPECT_FALSE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
  EXPECT_TRUE(is_by_module(c.cell(TMETER_AXIS_MODULE_CALL, 1)));
  EXPECT_TRUE(is_by_module(c.cell(TMETER_AXIS_MODULE, 1)));
  EXPECT_FALSE(is_by_module(c.cell(TMETER_AXIS_MODULE, 0)));
  EXPECT_FALSE(is_by_module(c.cell(TMETER_AXIS_MODULE, 2)));
}

TEST(Rollup, LastCountsAnAnsweredCallAtItsLastNode) {
  const auto g = tree();  // calls of a, b, a
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  const auto seven = by_module(number(int64_t{7})), nine = by_module(number(int64_t{9}));
  auto c = node_column({number(int64_t{1}), inside, number(int64_t{100}), inside},
                       TMETER_AGGREGATE_LAST);
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, seven, {}, nine};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 9);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 9);
  // Only the first call is answered; b ran after it.
  c = node_column({number(int64_t{1}), inside, number(int64_t{100})}, TMETER_AGGREGATE_LAST);
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, seven, {}, {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 100);
}

TEST(Rollup, LastNodeOfAnAnsweredCallMayBeDeepInside) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), block = b.module(root, "block", "Block"),
             leaf = b.module(block, "leaf", "Leaf"), other = b.module(root, "other", "Other");
  const auto top = b.module_call(root, 0), outer = b.module_call(block, top);
  const Id order[] = {outer, b.module_call(leaf, outer), b.module_call(other, top)};
  for (const auto call : {order[0], order[2], order[1]})  // other, then the leaf
    b.node("aten::x", "", call, {}, {}, "");
  const auto g = b.finish();
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  auto c = node_column({inside, number(int64_t{100}), inside}, TMETER_AGGREGATE_LAST);
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(number(int64_t{9})), {}, {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 9);
}

/// The value of a module that a handler answers for one of two calls is partly ours.
TEST(Rollup, AModuleIsMarkedOnlyIfAllOfItsCallsAreMarked) {
  const auto g = tree();
  auto c = node_column({{}, number_of_kind(TMETER_NUMBER_IN_MODULE), {}, number(int64_t{5})});
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(number(int64_t{7})), {}, {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 12);
  EXPECT_FALSE(is_by_module(c.cell(TMETER_AXIS_MODULE, 1)));
  // b is called once.
  c = node_column({{}, {}, number_of_kind(TMETER_NUMBER_IN_MODULE), {}});
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, {}, by_module(number(int64_t{7})), {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_TRUE(is_by_module(c.cell(TMETER_AXIS_MODULE, 2)));
  EXPECT_FALSE(is_by_module(c.cell(TMETER_AXIS_MODULE, 1)));
}

TEST(Rollup, MetricOfCallsFillsTheCallsWithoutAValue) {
  const auto g = tree();
  Column c;
  c.id = "m";
  c.axis = TMETER_AXIS_MODULE_CALL;
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, number(int64_t{5}), {}, number(int64_t{7})};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).i, 12);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 3).i, 7);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 12);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 12);
  // A call with a value of its own stands for those inside.
  c.cells[TMETER_AXIS_MODULE_CALL] = {number(int64_t{9}), number(int64_t{5}), {}, {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 5);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 9);
}

TEST(Rollup, ALaterRollUpReplacesAnEarlierOne) {
  const auto g = tree();
  const auto one = number(int64_t{1}), two = number(int64_t{2});
  auto c = node_column({one, one, one, one});
  roll_up_nodes(*g, {}, c);
  c.cells[TMETER_AXIS_NODE] = {two, two, two, two};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 0).i, 8);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 4);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 8);
}

TEST(Rollup, AMissingValueOfAModuleReplacesTheValuesInsideToo) {
  const auto g = tree();
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  const auto rolled_up = [&](tmeter_number given) {
    auto c = node_column({number(int64_t{1}), inside, number(int64_t{100}), inside});
    c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(given), {}, by_module(given)};
    roll_up_nodes(*g, {}, c);
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 1).kind, given.kind);
    EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 101);
    return is_partial(c.cell(TMETER_AXIS_MODEL, 0));
  };
  EXPECT_TRUE(rolled_up(number_of_kind(TMETER_NUMBER_UNKNOWN)));
  EXPECT_TRUE(rolled_up(number_of_kind(TMETER_NUMBER_UNAVAILABLE)));
  EXPECT_FALSE(rolled_up(number_of_kind(TMETER_NUMBER_ZERO_BY_RULE)));
  EXPECT_FALSE(rolled_up({}));
}

/// root → block → inner, and inner called once more outside of block. One node in each call.
TEST(Rollup, AValueIncludedInAModulesHasNoNumberOfItsOwn) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), block = b.module(root, "block", "Block"),
             list = b.module(block, "list", "ModuleList"), leaf = b.module(list, "0", "Leaf"),
             inner = b.module(root, "inner", "Inner");
  const auto top = b.module_call(root, 0), outer = b.module_call(block, top);
  for (const auto call : {top, outer, b.module_call(leaf, outer), b.module_call(inner, outer),
                          b.module_call(inner, top)})
    b.node("aten::x", "", call, {}, {}, "");
  const auto g = b.finish();
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  const auto one = number(int64_t{1});
  for (const auto a : {TMETER_AGGREGATE_SUM, TMETER_AGGREGATE_MAX, TMETER_AGGREGATE_LAST}) {
    auto c = node_column({one, inside, inside, inside, one}, a);
    c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(number(int64_t{9})), {}, {}, {}};
    roll_up_nodes(*g, {}, c);
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).kind, inside.kind);  // the container, never called
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 3).kind, inside.kind);
    // Called inside and outside: the value covers only the calls outside.
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 4).i, 1);
    EXPECT_EQ(is_partial(c.cell(TMETER_AXIS_MODULE, 4)), a != TMETER_AGGREGATE_LAST);
    EXPECT_FALSE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
  }
  // The last value of `inner` is unknown when its last run was inside.
  auto last = node_column({one, one, inside, one, inside}, TMETER_AGGREGATE_LAST);
  roll_up_nodes(*g, {}, last);
  EXPECT_EQ(last.cell(TMETER_AXIS_MODULE, 4).kind, inside.kind);
  // An unknown value beside it does not make it a gap of its own, either.
  auto c = node_column({number_of_kind(TMETER_NUMBER_UNKNOWN), inside, inside, inside, inside});
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(number(int64_t{9})), {}, {}, {}};
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 3).kind, inside.kind);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 9);
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
}

TEST(Rollup, AMeanUsesTheWeightOfTheCallThatHasTheValue) {
  const auto g = tree();
  const auto inside = number_of_kind(TMETER_NUMBER_IN_MODULE);
  Results r = weighed(*g);  // 1, 2, 0, 3
  auto c = node_column({number(7.0), inside, number(5.0), inside}, TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, by_module(number(1.0)), {}, by_module(number(2.0))};
  roll_up_nodes(*g, r, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, (1 * 7.0 + 2 * 1.0 + 3 * 2.0) / (1 + 2 + 3));
  // A value whose weight is included in a module's cannot be weighed.
  r.columns[0].cells[TMETER_AXIS_NODE].set(0, inside);
  c = node_column({number(7.0), number(1.0), {}, number(2.0)}, TMETER_AGGREGATE_WEIGHTED_MEAN);
  c.weight = "weights";
  roll_up_nodes(*g, r, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).f, (2 * 1.0 + 3 * 2.0) / (2 + 3));
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
}

TEST(Rollup, AContainerWithoutCallsHasTheSumOfItsContents) {
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

/// layers: two modules, called for nodes of 10 and 30 with weights 3 and 1.
TEST(Rollup, ContainerFollowsTheAggregation) {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), list = b.module(root, "layers", "ModuleList");
  const Id inside[] = {b.module(list, "0", "Linear"), b.module(list, "1", "Linear")};
  const auto top = b.module_call(root, 0);
  for (const auto i : {1, 0})  // 1 runs first
    b.node("aten::linear", "", b.module_call(inside[i], top), {}, {}, "");
  const auto g = b.finish();
  Results r;
  r.columns.push_back(node_column({number(int64_t{1}), number(int64_t{3})}));
  roll_up_nodes(*g, {}, r.columns[0]);
  const auto of_list = [&](int32_t aggregation) {
    auto c = node_column({number(30.0), number(10.0)}, aggregation);
    c.weight = "m";
    roll_up_nodes(*g, r, c);
    return c.cell(TMETER_AXIS_MODULE, 1).f;
  };
  EXPECT_EQ(of_list(TMETER_AGGREGATE_SUM), 40.0);
  EXPECT_EQ(of_list(TMETER_AGGREGATE_MAX), 30.0);
  EXPECT_EQ(of_list(TMETER_AGGREGATE_LAST), 10.0);
  EXPECT_EQ(of_list(TMETER_AGGREGATE_WEIGHTED_MEAN), (30.0 + 3 * 10.0) / 4);
}

TEST(Rollup, TheSumOfNoTensorsIsZero) {
  const auto g = GraphBuilder().finish();
  Column c;
  roll_up_tensors(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_INT);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 0);
}

TEST(Rollup, AFileOfWeightsHasASumOfZeroOperators) {
  GraphBuilder b;
  b.module(b.module(0, "", "Net"), "a", "A");
  const auto g = b.finish();
  auto c = node_column({});
  roll_up_nodes(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_INT);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 0);
  EXPECT_EQ(c.cells[TMETER_AXIS_MODULE].size(), 2u);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).kind, TMETER_NUMBER_NONE);
  EXPECT_EQ(c.cells[TMETER_AXIS_MODULE_CALL].size(), g->calls().size());
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
  roll_up_tensors(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 40);
}

/// Net with a.w, b.v and, tied to a.w, b.w – in this order.
std::unique_ptr<Graph> tied() {
  GraphBuilder g;
  const auto root = g.module(0, "", "Net"), a = g.module(root, "a", "A"),
             b = g.module(root, "b", "B");
  const auto add = [&](Id owner, std::string_view name, std::string_view storage) {
    TensorSpec s;
    s.name = name;
    s.owner = owner;
    s.storage_key = storage;
    g.tensor(s);
  };
  add(a, "a.w", "1");
  add(b, "b.v", "2");
  add(b, "b.w", "1");
  return g.finish();
}

TEST(Rollup, ATiedTensorCountsOnceInAModuleWithTensorsBetween) {
  const auto g = tied();
  Column c;
  c.cells[TMETER_AXIS_TENSOR] = {number(int64_t{40}), number(int64_t{7}), number(int64_t{40})};
  roll_up_tensors(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).i, 47);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 47);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 47);
}

TEST(Rollup, TensorsFollowTheAggregation) {
  const auto g = tied();
  Results r;
  r.columns.resize(1);
  r.columns[0].id = "m";
  r.columns[0].cells[TMETER_AXIS_TENSOR] = {number(int64_t{3}), number(int64_t{1})};
  const auto model = [&](int32_t aggregation) {
    auto c = node_column({}, aggregation);
    c.weight = "m";
    c.cells[TMETER_AXIS_TENSOR] = {number(10.0), number(30.0)};
    roll_up_tensors(*g, r, c);
    EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 0).f, c.cell(TMETER_AXIS_MODEL, 0).f);
    return c.cell(TMETER_AXIS_MODEL, 0).f;
  };
  EXPECT_EQ(model(TMETER_AGGREGATE_MAX), 30.0);
  EXPECT_EQ(model(TMETER_AGGREGATE_LAST), 30.0);
  EXPECT_EQ(model(TMETER_AGGREGATE_WEIGHTED_MEAN), (3 * 10.0 + 30.0) / 4);
}

TEST(Rollup, TensorsWithoutCellsAreSkipped) {
  const auto g = tied();
  Column c;
  c.cells[TMETER_AXIS_TENSOR] = {number(int64_t{40})};
  roll_up_tensors(*g, {}, c);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 40);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 40);
}

}  // namespace
}  // namespace tmeter::core
