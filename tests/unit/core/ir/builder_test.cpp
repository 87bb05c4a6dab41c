// The boundary between loaders and the graph: refusals, and the recognition of tied tensors.
#include "core/ir/builder.hpp"

#include <tmeter/abi/builder.h>
#include <tmeter/abi/graph.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tmeter/cpp/natural_order.hpp>

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

struct Fixture {
  GraphBuilder b;
  uint32_t root = b.module(0, "", "Net");
  uint32_t call = b.module_call(root, 0);
  uint32_t tensor_value(std::vector<int64_t> dims) {
    std::vector<DimSpec> specs;
    for (const auto d : dims) specs.push_back({d, 0});
    return b.value_tensor(TMETER_DTYPE_FLOAT32, specs);
  }
  uint32_t node(uint32_t argument, uint32_t result) {
    const std::pair<std::string_view, uint32_t> args[] = {{"x", argument}};
    return b.node("aten::relu", "", call, args, {&result, 1}, "");
  }
  uint32_t tensor(const std::string& name, const std::string& key, std::vector<int64_t> dims,
                  int64_t offset = 0) {
    TensorSpec s;
    s.kind = TMETER_TENSOR_PARAMETER;
    s.dtype = TMETER_DTYPE_FLOAT32;
    s.name = name;
    s.storage_key = key;
    s.owner = root;
    s.dims = dims;
    s.storage_offset = offset;
    return b.tensor(s);
  }
};

TEST(Builder, NodesRunInOrder) {
  Fixture f;
  const auto x = f.tensor_value({1, 3}), y = f.tensor_value({1, 3});
  f.b.input("x", "recorded", x);
  f.node(x, y);
  f.b.output(y);
  const auto graph = f.b.finish();
  ASSERT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->nodes()[0].results[0]->producer, &graph->nodes()[0]);
  EXPECT_EQ(graph->outputs().size(), 1u);
}

TEST(Builder, SymbolicSizesAreBoundSeparatelyFromFixedOnes) {
  Fixture f;
  const auto n = f.b.expr_symbol(f.b.symbol("n", 1, 100, 2));
  const std::vector<DimSpec> symbolic{{2, n}, {3, 0}};
  f.b.input("x", "recorded", f.b.value_tensor(TMETER_DTYPE_FLOAT32, symbolic));
  f.b.input("y", "recorded", f.tensor_value({2, 3}));
  const auto graph = f.b.finish();
  graph->bind({{"n", 9}});
  EXPECT_EQ(graph->inputs()[0].value->dims[0], 9);
  EXPECT_EQ(graph->inputs()[1].value->dims[0], 2);
}

TEST(Builder, UseBeforeDefinitionNamesTheNode) {
  Fixture f;
  const auto x = f.tensor_value({1}), y = f.tensor_value({1});
  expect_error(ErrorKind::kModel, {"aten::relu", "'x'", "cycle"}, [&] { f.node(x, y); });
}

TEST(Builder, ListIsDefinedOnceItsMembersAre) {
  Fixture f;
  const auto x = f.tensor_value({1});
  const uint32_t items[] = {x};
  const auto list = f.b.value_list(items);
  expect_error(ErrorKind::kModel, {"before anything defines it"},
               [&] { f.node(list, f.b.value_none()); });
  f.b.input("x", "recorded", x);
  EXPECT_NO_THROW(f.node(list, f.tensor_value({1})));
}

TEST(Builder, ImpossibleShapesAreRefused) {
  Fixture f;
  expect_error(ErrorKind::kModel, {"impossible shape"}, [&] {
    f.tensor_value({int64_t{1} << 40, int64_t{1} << 40});
  });
  expect_error(ErrorKind::kModel, {"impossible shape"}, [&] { f.tensor_value({-1}); });
  expect_error(ErrorKind::kModel, {"rank"}, [&] { f.tensor_value(std::vector<int64_t>(65, 1)); });
  expect_error(ErrorKind::kModel, {"tensor 'w'"}, [&] { f.tensor("w", "", {INT64_MAX, 2}); });
}

TEST(Builder, DanglingIdsAreRefused) {
  Fixture f;
  expect_error(ErrorKind::kModel, {"does not exist"}, [&] { f.b.output(4711); });
  expect_error(ErrorKind::kModel, {"does not exist"}, [&] { f.b.module(99, "x", "X"); });
  expect_error(ErrorKind::kModel, {"does not exist"}, [&] { f.b.value_bound(7); });
  expect_error(ErrorKind::kModel, {"one root"}, [&] { f.b.module(0, "second", "X"); });
}

TEST(Builder, ListsNestedTooDeepAreRefused) {
  Fixture f;
  auto v = f.b.value_none();
  expect_error(ErrorKind::kModel, {"nested more than 64 deep"}, [&] {
    for (int i = 0; i < 100; ++i) v = f.b.value_list({&v, 1});
  });
}

TEST(Builder, TooLongPathsAreRefused) {
  Fixture f;
  const std::string name(1'000, 'n');
  auto module = f.root;
  for (int level = 0; level < 4; ++level) module = f.b.module(module, name, "");
  expect_error(ErrorKind::kModel, {"path of a module", "5004 bytes", "4,096"},
               [&] { f.b.module(module, name, ""); });
}

TEST(Builder, PathsAndNamesTogetherAreBounded) {
  Fixture f;
  const auto deep = f.b.module(f.root, std::string(4'000, 'n'), "");
  expect_error(ErrorKind::kModel, {"128 MiB", "33492 modules and 1 tensors"}, [&] {
    f.tensor(std::string(50'000, 't'), "", {1});
    for (int i = 10'000; i < 60'000; ++i)
      f.b.module(deep, std::to_string(i), "");  // 4,006 bytes each: 33,490 of them fit
  });
}

TEST(Builder, DuplicatePathsOfModulesAreRefused) {
  Fixture f;
  const auto a = f.b.module(f.root, "a", "");
  f.b.module(a, "b", "");
  expect_error(ErrorKind::kModel, {"module 'a' occurs twice"},
               [&] { f.b.module(f.root, "a", ""); });
  expect_error(ErrorKind::kModel, {"module 'a.b' occurs twice"},
               [&] { f.b.module(f.root, "a.b", ""); });
}

TEST(Builder, DuplicatesAmongManyNamesAreRefused) {
  Fixture f;
  const auto name = [](int i) { return "n" + std::to_string(i); };
  for (int i = 0; i < 3'000; ++i) {
    f.b.module(f.root, name(i), "");
    f.tensor(name(i), "", {1});
  }
  for (int i = 0; i < 3'000; i += 97) {
    expect_error(ErrorKind::kModel, {"module '" + name(i) + "' occurs twice"},
                 [&] { f.b.module(f.root, name(i), ""); });
    expect_error(ErrorKind::kModel, {"tensor '" + name(i) + "' occurs twice"},
                 [&] { f.tensor(name(i), "", {1}); });
  }
}

/// Names in and out of natural order, some repeated, some empty and left out; std::set is the
/// reference.
TEST(NameIndex, DecidesLikeASet) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const unsigned count = 1 + random() % 40, orders = random() % 20;
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i)
      names.push_back(random() % 10 == 0 ? "" : "n" + std::to_string(random() % 60) + ".w");
    std::sort(names.begin(), names.begin() + std::min(count, orders),
              [](const auto& a, const auto& b) { return natural_less(a, b); });
    NameIndex index;
    std::set<std::string> seen;
    std::vector<std::string> list;
    const bool leaves_out = random() % 2 == 0;
    for (const auto& name : names) {
      const bool is_new = seen.insert(name).second;
      if (!leaves_out || !name.empty()) {
        const bool added =
            index.insert(name, list.size(), [&](size_t i) { return std::string_view(list[i]); });
        EXPECT_EQ(added, is_new) << "round " << round << ", '" << name << "'";
        if (!added) continue;
      }
      list.push_back(name);
    }
  }
}

TEST(Builder, TiedTensorsShareOneCanonical) {
  Fixture f;
  f.tensor("wte.weight", "weight_0", {10, 4});
  f.tensor("lm_head.weight", "weight_0", {10, 4});
  f.tensor("slice", "weight_0", {5, 4}, 20);  // same storage, another range
  f.tensor("alone", "", {10, 4});             // weightless files: no key, never tied
  expect_error(ErrorKind::kModel, {"'alone'", "twice"}, [&] { f.tensor("alone", "", {1}); });
  const auto graph = f.b.finish();
  const auto& t = graph->tensors();
  EXPECT_EQ(t[1].canonical, &t[0]);
  EXPECT_EQ(t[2].canonical, &t[2]);
  EXPECT_EQ(t[3].canonical, &t[3]);
}

TEST(Builder, ModulesAreNumberedInPreorderForAnyOrderOfCreation) {
  Fixture f;
  const auto a = f.b.module(f.root, "a", "A");
  f.b.module(f.root, "b", "B");
  f.b.module(a, "inner", "I");
  const auto graph = f.b.finish();
  std::vector<std::string> paths;
  for (const auto* m : graph->modules()) paths.emplace_back(m->path);
  EXPECT_EQ(paths, (std::vector<std::string>{"", "a", "a.inner", "b"}));
}

TEST(Builder, SymbolsAreBoundWithinTheirRange) {
  Fixture f;
  const auto s = f.b.symbol("batch", 2, 64, 8);
  const DimSpec dims[] = {{0, f.b.expr_symbol(s)}, {3, 0}};
  f.b.input("x", "recorded", f.b.value_tensor(TMETER_DTYPE_FLOAT32, dims));
  const auto graph = f.b.finish();
  const auto& x = *graph->inputs()[0].value;
  EXPECT_EQ(x.dims[0], 8);
  graph->bind({{"batch", 64}});
  EXPECT_EQ(x.dims[0], 64);
  expect_error(ErrorKind::kUsage, {"range 2…64"}, [&] { graph->bind({{"batch", 65}}); });
  expect_error(ErrorKind::kUsage, {"'batsh'", "did you mean 'batch'"}, [&] {
    graph->bind({{"batsh", 3}});
  });
}

TEST(Builder, SymbolsAreNamedByTheFirstInputDimThatEqualsThem) {
  Fixture f;
  const auto batch = f.b.expr_symbol(f.b.symbol("s1", 2, 64, 8));
  const auto length = f.b.expr_symbol(f.b.symbol("s2", 2, 64, 8));
  f.b.symbol("u0", 0, 64, 8);
  const std::vector<ExprId> both{batch, length};
  const DimSpec x[] = {{0, f.b.expr(TMETER_EXPR_MUL, both)}, {3, 0}, {0, length}};
  const DimSpec y[] = {{0, batch}, {0, length}};
  const GraphBuilder::Id list[] = {f.b.value_tensor(TMETER_DTYPE_FLOAT32, y)};
  f.b.input("x", "recorded", f.b.value_tensor(TMETER_DTYPE_FLOAT32, x));
  f.b.input("more", "recorded", f.b.value_list(list));
  const auto graph = f.b.finish();
  EXPECT_EQ(graph->symbols()[0].place, "more.0.0");
  EXPECT_EQ(graph->symbols()[1].place, "x.2");
  EXPECT_EQ(graph->symbols()[2].place, "");
  EXPECT_EQ(graph->find_symbol("x.2"), 1U);
  EXPECT_EQ(graph->find_symbol("s1"), 0U);
  expect_error(ErrorKind::kUsage, {"s1 (more.0.0), s2 (x.2), u0"},
               [&] { (void)graph->find_symbol(""); });
}

TEST(Builder, BindingsTakeEffectTogetherOrNotAtAll) {
  Fixture f;
  const auto a = f.b.expr_symbol(f.b.symbol("a", 0, 64, 8));
  const auto b = f.b.expr_symbol(f.b.symbol("b", 0, 64, 4));
  const std::vector<ExprId> ratio{a, b};
  const DimSpec dims[] = {{0, f.b.expr(TMETER_EXPR_TRUEDIV, ratio)}};
  f.b.input("x", "recorded", f.b.value_tensor(TMETER_DTYPE_FLOAT32, dims));
  const auto graph = f.b.finish();
  const auto& x = *graph->inputs()[0].value;
  graph->bind({{"a", 9}, {"b", 3}});  // setting a alone would give 9 / 4, not a valid size
  EXPECT_EQ(x.dims[0], 3);
  expect_error(ErrorKind::kModel, {"bind other sizes"}, [&] { graph->bind({{"a", 10}}); });
  EXPECT_EQ(x.dims[0], 3);
  EXPECT_EQ(graph->symbols()[0].value, 9);
}

/// Also strings with equal ends, and strings that contain each other.
TEST(Builder, ConditionsAreCheckedForThePresentSizes) {
  Fixture f;
  const auto n = f.b.expr_symbol(f.b.symbol("n", 0, 100, 6));
  const auto half = f.b.expr(TMETER_EXPR_FLOORDIV, {n, f.b.expr_int(2)});
  const auto rest = f.b.expr(TMETER_EXPR_MOD, {f.b.expr_int(12), half});
  f.b.condition(f.b.expr(TMETER_EXPR_EQ, {rest, f.b.expr_int(0)}), "12 % (n // 2) == 0");
  f.b.condition(n, std::string(10'000, 'x') + "\x1b");
  const auto graph = f.b.finish();
  const auto holds = [&] {
    std::string out;
    for (const auto& c : graph->conditions()) out += graph->holds(c) ? '1' : '0';
    return out;
  };
  EXPECT_EQ(holds(), "11");
  graph->bind({{"n", 10}});
  EXPECT_EQ(holds(), "01");
  graph->bind({{"n", 1}});  // 12 % 0 has no value: no size needs it
  EXPECT_EQ(holds(), "01");
  graph->bind({{"n", 0}});
  EXPECT_EQ(holds(), "00");
  EXPECT_LT(graph->conditions()[1].text.size(), 250u);
  GraphBuilder other;
  expect_error(ErrorKind::kModel, {"condition", "does not exist"}, [&] { other.condition(1, ""); });
  const auto one = other.expr_int(1);
  expect_error(ErrorKind::kModel, {"conditions on sizes"}, [&] {
    for (int i = 0; i <= 10'000; ++i) other.condition(one, "");
  });
}

TEST(Builder, EqualTextsOfAnySizeAreStoredOnce) {
  Fixture f;
  std::map<std::string, const char*> stored;
  for (int round = 0; round < 3; ++round) {
    for (size_t size = 1; size < 40; ++size) {
      for (size_t differs = 0; differs <= size; ++differs) {
        std::string text(size, 'a');
        if (differs < size) text[differs] = 'b';
        const auto* value = f.b.peek(f.b.value_text(text));
        ASSERT_EQ(value->text, text);
        const auto [first, is_new] = stored.emplace(text, value->text.data());
        ASSERT_EQ(first->second, value->text.data()) << text;
        ASSERT_EQ(is_new, round == 0);
      }
    }
  }
}

}  // namespace
}  // namespace tmeter::core
