// Operators with equal signatures, by hand.
#include "core/analysis/signatures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

constexpr int32_t kFloat = 6, kHalf = 5;
using Id = GraphBuilder::Id;
using Args = std::vector<std::pair<std::string_view, Id>>;

/// A graph of operators with the arguments of each test.
class AlikeOperators : public ::testing::Test {
 protected:
  Id tensor(std::vector<int64_t> dims, int32_t dtype = kFloat) {
    std::vector<DimSpec> specs;
    for (const auto d : dims) specs.push_back({d});
    const auto value = b.value_from_outside(dtype, specs);
    b.input("x", "recorded", value);
    return value;
  }
  Id weight(const std::string& name, std::vector<int64_t> dims, bool trainable = true) {
    const std::string key = "data/" + name;
    TensorSpec spec;
    spec.dtype = kFloat;
    spec.name = name;
    spec.storage_key = key;
    spec.owner = root;
    spec.dims = dims;
    spec.trainable = trainable;
    return b.value_bound(b.tensor(spec));
  }
  void node(const Args& args, std::vector<int64_t> result = {2, 3}, std::string_view op = "aten::f",
            Id at = 0) {
    std::vector<DimSpec> dims;
    for (const auto d : result) dims.push_back({d});
    const std::vector<Id> results{b.value_tensor(kFloat, dims)};
    b.node(op, "", at ? at : call, args, results, "line " + std::to_string(++lines));
  }
  std::vector<uint32_t> found() {
    graph = b.finish();
    return signatures_of(*graph);
  }

  GraphBuilder b;
  Id root = b.module(0, "", "Net"), call = b.module_call(root, 0);
  Id inner = b.module(root, "inner", "Inner"), inner_call = b.module_call(inner, call);
  std::unique_ptr<Graph> graph;
  int lines = 0;
};

using Found = std::vector<uint32_t>;

TEST_F(AlikeOperators, DoNotDependOnTheirCallOrTheProducersOfTheirArguments) {
  node({{"self", tensor({2, 3})}});
  node({{"self", tensor({2, 3})}});
  node({{"self", tensor({2, 3})}}, {2, 3}, "aten::f", inner_call);
  EXPECT_EQ(found(), (Found{1, 1, 1}));
}

TEST_F(AlikeOperators, DifferByNameShapesAndTypes) {
  node({{"self", tensor({2, 3})}});
  node({{"self", tensor({2, 3})}}, {2, 3}, "aten::g");
  node({{"self", tensor({3, 2})}});
  node({{"self", tensor({2, 3}, kHalf)}});
  node({{"self", tensor({2, 3})}}, {3, 2});
  node({{"other", tensor({2, 3})}});
  EXPECT_EQ(found(), (Found{1, 2, 3, 4, 5, 6}));
}

TEST_F(AlikeOperators, DifferByConstants) {
  for (const auto value : {b.value_int({1}), b.value_int({2}), b.value_bool(true),
                           b.value_float(1.5), b.value_text("same"), b.value_text("valid"),
                           b.value_text("validity"), b.value_none(), b.value_other("cpu")})
    node({{"k", value}});
  EXPECT_EQ(found(), (Found{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(AlikeOperators, DifferByTheItemsAndNestingOfLists) {
  const auto one = b.value_int({1}), two = b.value_int({2});
  const std::vector<Id> both{one, two}, only{one}, none;
  const auto list = b.value_list(both), first = b.value_list(only);
  const std::vector<Id> nested{first, two}, pair{first};
  for (const auto value : {list, first, b.value_list(none), b.value_list(nested),
                           b.value_list(pair), b.value_list(both)})
    node({{"sizes", value}});
  EXPECT_EQ(found(), (Found{1, 2, 3, 4, 5, 1}));
}

TEST_F(AlikeOperators, DifferByWhichArgumentsShareATensor) {
  const auto x = tensor({2, 3}), y = tensor({2, 3});
  node({{"self", x}, {"other", y}});
  node({{"self", x}, {"other", x}});
  node({{"self", y}, {"other", x}});
  EXPECT_EQ(found(), (Found{1, 2, 1}));
}

TEST_F(AlikeOperators, DifferByStoredWeightsButNotByTheirNames) {
  node({{"w", weight("a", {2, 3})}});
  node({{"w", weight("b", {2, 3})}});
  node({{"w", weight("c", {2, 3}, false)}});
  node({{"w", tensor({2, 3})}});
  EXPECT_EQ(found(), (Found{1, 1, 2, 3}));
}

TEST_F(AlikeOperators, DifferByTheBytesOfEncodedTensors) {
  const auto packed = [&](const std::string& name, int64_t bytes) {
    TensorSpec spec;
    spec.dtype = kFloat;
    spec.name = name;
    spec.owner = root;
    const std::vector<int64_t> dims{2, 32};
    spec.dims = dims;
    spec.storage_bytes = bytes;
    spec.encoding = EncodingSpec{"acme.q4", {}, 0, 0, 0, {}};
    return b.value_bound(b.tensor(spec));
  };
  node({{"w", packed("a", 36)}});
  node({{"w", packed("b", 36)}});
  node({{"w", packed("c", 68)}});
  node({{"w", weight("d", {2, 32})}});
  EXPECT_EQ(found(), (Found{1, 1, 2, 3}));
}

TEST_F(AlikeOperators, AreNotComparedIfTheirSignaturesAreTooLong) {
  const std::vector<Id> many(2000, b.value_int({1}));
  const auto list = b.value_list(many);
  node({{"sizes", list}});
  node({{"sizes", list}});
  EXPECT_EQ(found(), (Found{kNoSignature, kNoSignature}));
}

TEST_F(AlikeOperators, OfManyKindsAreKeptApart) {
  constexpr int64_t kKinds = 3000;
  for (int round = 0; round < 2; ++round)
    for (int64_t k = 0; k < kKinds; ++k) node({{"k", b.value_int({k})}});
  const auto all = found();
  for (int64_t k = 0; k < kKinds; ++k) {
    EXPECT_EQ(all[static_cast<size_t>(k)], k + 1);
    EXPECT_EQ(all[static_cast<size_t>(k + kKinds)], k + 1);
  }
}

TEST_F(AlikeOperators, DifferByTheSymbolsOfTheirSizes) {
  const auto n = b.expr_symbol(b.symbol("n", 1, 100, 4)), m = b.expr_symbol(b.symbol("m", 1, 9, 4));
  const auto input = [&](DimSpec first) {
    const std::vector<DimSpec> dims{first, {3}};
    const auto value = b.value_from_outside(kFloat, dims);
    b.input("x", "recorded", value);
    return value;
  };
  for (const auto expr : {n, n, m}) node({{"self", input({4, expr})}});
  node({{"self", input({7})}});
  EXPECT_EQ(found(), (Found{1, 1, 2, 3})) << "a symbol differs from its value";
  graph->bind({{"n", 7}});
  EXPECT_EQ(signatures_of(*graph), (Found{1, 1, 2, 3}));
}

TEST_F(AlikeOperators, AreNotComparedOnceSignaturesTakeTwoMegabytes) {
  constexpr int64_t kKinds = 1000;  // at least three words for each of 100 items
  std::vector<Id> items(100, b.value_int({1}));
  std::vector<Id> lists;
  for (int64_t k = 0; k < kKinds; ++k) {
    items.back() = b.value_int({k});
    lists.push_back(b.value_list(items));
    node({{"sizes", lists.back()}});
  }
  node({{"sizes", lists.front()}});
  node({{"sizes", lists.back()}});
  const auto all = found();
  EXPECT_EQ(all[0], 1u);
  EXPECT_EQ(all[500], 501u);
  EXPECT_EQ(all[kKinds - 1], kNoSignature);
  EXPECT_EQ(all[kKinds], 1u);
  EXPECT_EQ(all[kKinds + 1], kNoSignature);
}

}  // namespace
}  // namespace tmeter::core
