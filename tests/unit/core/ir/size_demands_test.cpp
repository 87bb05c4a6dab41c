// The demands of operators on their arguments' sizes; by hand, as PyTorch's operators check them.
#include "core/ir/size_demands.hpp"

#include <gtest/gtest.h>
#include <tmeter/abi/graph.h>

#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kN = -1;  // the symbol n, 6 when the program is recorded

struct DemandCase {
  std::string op, overload;
  std::vector<Sizes> arguments;
  Sizes result;
  std::vector<int64_t> accepted, refused;  // values of n
  bool is_list = false;                    // of the arguments

  friend void PrintTo(const DemandCase& c, std::ostream* out) { *out << c.op << ' ' << c.overload; }
};

class Demands : public ::testing::TestWithParam<DemandCase> {};

TEST_P(Demands, DependOnTheSizes) {
  const auto& c = GetParam();
  GraphBuilder b;
  const auto call = b.module_call(b.module(0, "", "Net"), 0);
  const auto n = b.expr_symbol(b.symbol("n", 0, 1000, 6));
  const auto value = [&](const Sizes& shape) {
    std::vector<DimSpec> dims;
    for (const auto d : shape) dims.push_back(d == kN ? DimSpec{0, n} : DimSpec{d, 0});
    return b.value_tensor(TMETER_DTYPE_FLOAT32, dims);
  };
  std::vector<std::pair<std::string_view, GraphBuilder::Id>> args;
  std::vector<GraphBuilder::Id> items;
  for (const auto& shape : c.arguments) {
    items.push_back(value(shape));
    b.input("x" + std::to_string(items.size()), "recorded", items.back());
    if (!c.is_list) args.emplace_back("x", items.back());
  }
  if (c.is_list) args.emplace_back("tensors", b.value_list(items));
  const auto result = value(c.result);
  b.node(c.op, c.overload, call, args, {&result, 1}, "");
  const auto graph = b.finish();
  const auto refuses = [&](int64_t size) {
    graph->bind({{"n", size}});
    return graph->node_with_unmet_demand() != nullptr;
  };
  for (const auto size : c.accepted) EXPECT_FALSE(refuses(size)) << c.op << " " << size;
  for (const auto size : c.refused) EXPECT_TRUE(refuses(size)) << c.op << " " << size;
}

INSTANTIATE_TEST_SUITE_P(
    Operators, Demands,
    ::testing::Values(DemandCase{"aten::view", "", {{kN, 4}}, {3, 8}, {6}, {0, 5, 7}},
                      DemandCase{"aten::view", "dtype", {{kN, 4}}, {3, 8}, {6, 7}, {}},
                      DemandCase{"aten::reshape", "", {{24}}, {kN, 4}, {6}, {1}},
                      DemandCase{"aten::add", "Tensor", {{kN, 4}, {6, 4}}, {6, 4}, {6, 1}, {5, 0}},
                      DemandCase{
                          "aten::add", "Tensor", {{2, 6, 4}, {kN, 4}}, {2, 6, 4}, {6, 1}, {2}},
                      DemandCase{"aten::mul", "Tensor", {{kN, 4}, {}}, {kN, 4}, {0, 1, 9}, {}},
                      DemandCase{"aten::where", "self", {{6}, {kN}, {}}, {6}, {6, 1}, {7}},
                      DemandCase{"aten::expand", "", {{kN, 1}}, {6, 4}, {6, 1}, {3}},
                      DemandCase{"aten::mm", "", {{3, kN}, {6, 5}}, {3, 5}, {6}, {1, 7}},
                      DemandCase{"aten::addmm", "", {{5}, {3, kN}, {6, 5}}, {3, 5}, {6}, {7}},
                      DemandCase{"aten::bmm", "", {{2, 3, 4}, {kN, 4, 5}}, {2, 3, 5}, {2}, {1, 6}},
                      DemandCase{"aten::matmul", "", {{3, kN}, {6}}, {3}, {6}, {1, 5}},
                      DemandCase{"aten::matmul", "", {{3, 6}, {2, kN, 5}}, {2, 3, 5}, {6}, {5}},
                      DemandCase{"aten::linear", "", {{2, kN}, {5, 6}}, {2, 5}, {6}, {5, 1}},
                      DemandCase{"aten::cat", "", {{kN, 4}, {3, 4}}, {9, 4}, {6, 8}, {}, true},
                      DemandCase{"aten::cat", "", {{kN, 4}, {6, 4}}, {6, 8}, {6}, {5}, true},
                      DemandCase{"aten::cat", "", {{0}, {kN, 4}}, {kN, 4}, {6, 8}, {}, true},
                      DemandCase{"aten::relu", "", {{kN, 4}}, {6, 4}, {6, 7}, {}}));

TEST(Demands, ConcernNoFixedSizes) {
  GraphBuilder b;
  const auto call = b.module_call(b.module(0, "", "Net"), 0);
  const std::vector<DimSpec> before{{5, 0}}, after{{6, 0}};
  const auto x = b.value_tensor(TMETER_DTYPE_FLOAT32, before);
  const auto y = b.value_tensor(TMETER_DTYPE_FLOAT32, after);
  b.input("x", "recorded", x);
  b.symbol("n", 0, 9, 3);
  const std::pair<std::string_view, GraphBuilder::Id> args[] = {{"self", x}};
  b.node("aten::view", "", call, args, {&y, 1}, "");
  EXPECT_EQ(b.finish()->node_with_unmet_demand(), nullptr);
}

}  // namespace
}  // namespace tmeter::core
