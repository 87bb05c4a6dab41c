// The contents of a module call: operators, inputs and outputs, by hand on small graphs.
#include "core/ir/call_index.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

using Id = GraphBuilder::Id;

class Maker {
 public:
  Id tensor() {
    const DimSpec dim{4, 0};
    return b.value_tensor(0, {{dim}});
  }
  Id parameter(Id owner, std::string_view name) {
    TensorSpec s;
    s.name = name;
    s.owner = owner;
    s.storage_key = name;
    return b.value_bound(b.tensor(s));
  }
  Id node(Id call, std::vector<Id> args, Id result) {
    std::vector<std::pair<std::string_view, Id>> named;
    for (const auto a : args) named.emplace_back("x", a);
    return b.node("aten::x", "", call, named, std::span(&result, 1), "");
  }
  GraphBuilder b;
};

std::vector<size_t> indices(const std::vector<const Node*>& nodes) {
  std::vector<size_t> out;
  for (const auto* n : nodes) out.push_back(n->index);
  return out;
}

/// The nodes that make the values; -1 for graph inputs.
std::vector<int> makers(const std::vector<const Value*>& values) {
  std::vector<int> out;
  for (const auto* v : values)
    out.push_back(v->producer ? static_cast<int>(v->producer->index) : -1);
  return out;
}

using Indices = std::vector<size_t>;
using Makers = std::vector<int>;

/// net(x): a = 0(x, w); block: b = 1(a), inner: c = 2(b, a); block: d = 3(c); net: 4(d, b); d is an
/// output.
std::unique_ptr<Graph> nested() {
  Maker m;
  auto& b = m.b;
  const auto root = b.module(0, "", "Net"), block = b.module(root, "block", "Block"),
             inner = b.module(block, "inner", "Inner");
  const auto top = b.module_call(root, 0), outer = b.module_call(block, top),
             inside = b.module_call(inner, outer);
  const auto x = m.tensor(), w = m.parameter(root, "w");
  b.input("x", "recorded", x);
  const auto a = m.tensor(), bb = m.tensor(), c = m.tensor(), d = m.tensor(), e = m.tensor();
  m.node(top, {x, w}, a);
  m.node(outer, {a}, bb);
  m.node(inside, {bb, a}, c);
  m.node(outer, {c}, d);
  m.node(top, {d, bb, d}, e);
  b.output(d);
  return b.finish();
}

TEST(CallIndex, NodesOfACallAreAllInsideInExecutionOrder) {
  const auto g = nested();
  EXPECT_EQ(indices(g->contents(g->calls()[0]).nodes), (Indices{0, 1, 2, 3, 4}));
  EXPECT_EQ(indices(g->contents(g->calls()[1]).nodes), (Indices{1, 2, 3}));
  EXPECT_EQ(indices(g->contents(g->calls()[2]).nodes), (Indices{2}));
}

TEST(CallIndex, InputsAreProducedOutsideAndAreNotParameters) {
  const auto g = nested();
  EXPECT_EQ(makers(g->contents(g->calls()[0]).inputs), (Makers{-1}));
  EXPECT_EQ(makers(g->contents(g->calls()[1]).inputs), (Makers{0}));
  EXPECT_EQ(makers(g->contents(g->calls()[2]).inputs),
            (Makers{1, 0}));  // in the order of first use
}

TEST(CallIndex, OutputsAreUsedOutsideOrResultsOfTheModel) {
  const auto g = nested();
  EXPECT_EQ(makers(g->contents(g->calls()[0]).outputs), (Makers{3}));
  EXPECT_EQ(makers(g->contents(g->calls()[1]).outputs), (Makers{1, 3}));  // once each
  EXPECT_EQ(makers(g->contents(g->calls()[2]).outputs), (Makers{2}));
}

/// A module called twice, the second time with the result of the first, with other calls between.
TEST(CallIndex, EachCallHasItsOwnContents) {
  Maker m;
  const auto root = m.b.module(0, "", "Net"), block = m.b.module(root, "block", "Block"),
             other = m.b.module(root, "other", "Other");
  const auto top = m.b.module_call(root, 0), first = m.b.module_call(block, top),
             between = m.b.module_call(other, top), second = m.b.module_call(block, top);
  const auto x = m.tensor(), y = m.tensor(), z = m.tensor(), u = m.tensor(), v = m.tensor();
  m.b.input("x", "recorded", x);
  m.node(first, {x}, y);
  m.node(between, {y}, z);
  m.node(second, {y}, u);
  m.node(first, {z}, v);  // of the first call again, but not next to it
  m.b.output(u);
  const auto g = m.b.finish();
  EXPECT_EQ(indices(g->contents(g->calls()[1]).nodes), (Indices{0, 3}));
  EXPECT_EQ(makers(g->contents(g->calls()[1]).inputs), (Makers{-1, 1}));
  EXPECT_EQ(makers(g->contents(g->calls()[1]).outputs), (Makers{0}));
  EXPECT_EQ(makers(g->contents(g->calls()[3]).inputs), (Makers{0}));
  EXPECT_EQ(makers(g->contents(g->calls()[3]).outputs), (Makers{2}));
}

TEST(CallIndex, TensorsInsideListsCount) {
  Maker m;
  const auto root = m.b.module(0, "", "Net"), block = m.b.module(root, "block", "Block");
  const auto top = m.b.module_call(root, 0), call = m.b.module_call(block, top);
  const auto x = m.tensor(), y = m.tensor(), p = m.tensor(), q = m.tensor(), z = m.tensor();
  m.b.input("x", "recorded", x);
  m.b.input("y", "recorded", y);
  const Id given[] = {x, y}, made[] = {p, q};
  m.node(call, {m.b.value_list(given)}, m.b.value_list(made));
  m.node(top, {q}, z);
  const auto g = m.b.finish();
  EXPECT_EQ(g->contents(g->calls()[1]).inputs.size(), 2u);
  ASSERT_EQ(g->contents(g->calls()[1]).outputs.size(), 1u);  // p is unused
  EXPECT_EQ(g->contents(g->calls()[1]).outputs[0], g->nodes()[1].args[0].value);
}

TEST(CallIndex, ACallWithoutOperatorsHasNoContents) {
  const auto g = GraphBuilder().finish();
  const auto& contents = g->contents(g->calls()[0]);
  EXPECT_TRUE(contents.nodes.empty());
  EXPECT_TRUE(contents.inputs.empty());
  EXPECT_TRUE(contents.outputs.empty());
}

TEST(CallIndex, ManyThreadsMayReadTheContents) {
  const auto g = nested();
  std::vector<std::thread> threads;
  std::vector<const CallContents*> found(16);
  for (size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] { found[i] = &g->contents(g->calls()[i % 3]); });
  for (auto& t : threads) t.join();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], found[i % 3]);
}

/// 100,000 calls, each nested in the previous one.
TEST(CallIndex, DeepNestingIsQuickEnough) {
  constexpr size_t kDepth = 100'000;
  Maker m;
  const auto root = m.b.module(0, "", "Net");
  auto call = m.b.module_call(root, 0);
  for (size_t i = 1; i < kDepth; ++i) call = m.b.module_call(root, call);
  const auto x = m.tensor(), y = m.tensor();
  m.b.input("x", "recorded", x);
  m.node(call, {x}, y);
  m.b.output(y);
  const auto g = m.b.finish();
  EXPECT_EQ(g->contents(g->calls()[0]).inputs.size(), 1u);
  EXPECT_EQ(g->contents(g->calls()[kDepth / 2]).outputs.size(), 1u);
}

}  // namespace
}  // namespace tmeter::core
