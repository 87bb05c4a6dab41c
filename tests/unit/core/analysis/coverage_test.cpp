// Coverage, by hand: an operator is counted by its own value or by that of the call that contains
// it.
#include <gtest/gtest.h>

#include "core/analysis/columns.hpp"
#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

/// root → block → inner; the root has one operator, block two, inner one.
std::unique_ptr<Graph> block_in_net() {
  GraphBuilder b;
  const auto root = b.module(0, "", "Net"), block = b.module(root, "block", "Block"),
             inner = b.module(block, "inner", "Inner");
  const auto top = b.module_call(root, 0), outer = b.module_call(block, top);
  b.node("aten::conv2d", "", top, {}, {}, "");
  for (const auto call : {outer, outer, b.module_call(inner, outer)})
    b.node("aten::add", "Tensor", call, {}, {}, "");
  return b.finish();
}

Coverage covered(tmeter_number given) {
  std::vector<Column> columns(1);
  auto& c = columns[0];
  c.id = "flops";
  c.flags = TMETER_METRIC_COVERAGE;
  c.cells[TMETER_AXIS_NODE].assign(4, number_of_kind(TMETER_NUMBER_IN_MODULE));
  c.cells[TMETER_AXIS_NODE].set(0, number(int64_t{1}));
  given.flags |= TMETER_NUMBER_BY_MODULE;
  c.cells[TMETER_AXIS_MODULE_CALL] = {{}, given, number_of_kind(TMETER_NUMBER_IN_MODULE)};
  return coverage_of(columns, *block_in_net());
}

TEST(CoverageOf, OperatorsInsideACallAreCountedAsTheCallIs) {
  EXPECT_EQ(covered(number(int64_t{7})).counted, 4u);
  EXPECT_EQ(covered(number(int64_t{7})).ratio(), 1);
  const auto zero = covered(number_of_kind(TMETER_NUMBER_ZERO_BY_RULE));
  EXPECT_EQ(zero.counted, 1u);
  EXPECT_EQ(zero.zero_by_rule, 3u);
}

TEST(CoverageOf, AnUnknownCallLeavesItsOperatorsUnknownByName) {
  const auto unknown = covered(number_of_kind(TMETER_NUMBER_UNKNOWN));
  EXPECT_EQ(unknown.unknown, 3u);
  ASSERT_EQ(unknown.unknown_ops.size(), 1u);
  EXPECT_EQ(unknown.unknown_ops[0].op, "aten::add.Tensor");
  EXPECT_EQ(unknown.unknown_ops[0].nodes, 3u);
}

}  // namespace
}  // namespace tmeter::core
