// Two reports compared: matched modules and their changes.
#include "core/comparison/comparison.hpp"

#include <gtest/gtest.h>
#include <tmeter/abi/draft/comparison.h>

#include "core/comparison/matching.hpp"
#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

/// A report written in the test: modules by path, "path: Type [sizes of its weight]".
class WrittenReport {
 public:
  struct Line {
    std::string path, type;
    std::vector<int64_t> weight = {};
  };
  explicit WrittenReport(const std::vector<Line>& lines) {
    std::map<std::string, GraphBuilder::Id> ids;
    for (const auto& line : lines) {
      const auto dot = line.path.rfind('.');
      const bool is_root = line.path.empty();
      const auto parent =
          is_root ? 0 : ids.at(dot == line.path.npos ? "" : line.path.substr(0, dot));
      const auto name = dot == line.path.npos ? line.path : line.path.substr(dot + 1);
      const auto id = builder_.module(parent, name, line.type);
      ids[line.path] = id;
      if (!line.weight.empty()) add_weight(line, id);
    }
  }
  /// Values of a metric of the model and its modules, by index.
  void values(const std::string& id, const std::vector<tmeter_number>& of_modules) {
    auto& c = report_.results.columns.emplace_back();
    c.id = id;
    c.convention = "a test's";
    for (const auto& n : of_modules) c.cells[TMETER_AXIS_MODULE].add(n);
    c.cells[TMETER_AXIS_MODEL] = {of_modules.front()};
  }
  Report& get() {
    if (!graph_) graph_ = builder_.finish();
    report_.graph = graph_.get();
    return report_;
  }

 private:
  void add_weight(const Line& line, GraphBuilder::Id owner) {
    const auto name = line.path + ".weight";
    TensorSpec spec;
    spec.dtype = 6;
    spec.name = name;
    spec.owner = owner;
    spec.dims = line.weight;
    builder_.tensor(spec);
  }
  GraphBuilder builder_;
  std::unique_ptr<Graph> graph_;
  Report report_;
};

const std::vector<WrittenReport::Line> kOneModule{{"", "Net"}};

/// "before → after" of each row by paths; "-" where there is none.
std::vector<std::string> rows(Report& before, Report& after) {
  std::vector<std::string> out;
  for (const auto& p : compare(before, after).pairs) {
    const auto path = [](const Report& r, size_t m) {
      return m == kNoModule ? std::string("-") : std::string(r.graph->modules()[m]->path);
    };
    out.push_back(path(before, p.before) + " → " + path(after, p.after));
  }
  return out;
}
using Rows = std::vector<std::string>;

TEST(Comparison, ModulesWithOnePathAreMatched) {
  WrittenReport a({{"", "Net"}, {"fc", "Linear", {2, 3}}}), b({{"", "Net"}, {"fc", "Conv2d", {4}}});
  const auto pairs = compare(a.get(), b.get()).pairs;
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].flags, 0u);
  EXPECT_EQ(pairs[1].flags, uint32_t{TMETER_PAIR_REDEFINED});
  EXPECT_EQ(pairs[1].depth, 1u);
}

TEST(Comparison, ARenamedModuleIsMatchedByItsStructure) {
  WrittenReport a({{"", "Net"}, {"fc", "Linear", {2, 3}}, {"out", "Linear", {9, 9}}});
  WrittenReport b({{"", "Net"}, {"out", "Linear", {9, 9}}, {"head", "Linear", {2, 3}}});
  const auto pairs = compare(a.get(), b.get()).pairs;
  EXPECT_EQ(rows(a.get(), b.get()), (Rows{" → ", "out → out", "fc → head"}));
  EXPECT_EQ(pairs[2].flags, uint32_t{TMETER_PAIR_RENAMED});
}

TEST(Comparison, TheOnlyModuleOfATypeIsMatchedEvenIfItChanged) {
  WrittenReport a({{"", "Net"}, {"fc", "Linear", {2, 3}}}),
      b({{"", "Net"}, {"head", "Linear", {7, 7}}});
  const auto pairs = compare(a.get(), b.get()).pairs;
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].flags, uint32_t{TMETER_PAIR_RENAMED} | TMETER_PAIR_REDEFINED);
}

TEST(Comparison, TwoChangedModulesOfATypeAreNotMatched) {
  WrittenReport a({{"", "Net"}, {"a", "Linear", {1}}, {"b", "Linear", {2}}});
  WrittenReport b({{"", "Net"}, {"c", "Linear", {3}}, {"d", "Linear", {4}}});
  EXPECT_EQ(rows(a.get(), b.get()), (Rows{" → ", "- → c", "- → d", "a → -", "b → -"}));
}

TEST(Comparison, AWholeModelInsideAWrapperIsMatched) {
  WrittenReport a(
      {{"", "Net"}, {"conv", "Conv2d", {3}}, {"act", "ReLU"}, {"fc", "Linear", {2, 3}}});
  WrittenReport b({{"", "DataParallel"},
                   {"module", "Net"},
                   {"module.conv", "Conv2d", {3}},
                   {"module.act", "ReLU"},
                   {"module.fc", "Linear", {2, 3}}});
  EXPECT_EQ(rows(a.get(), b.get()), (Rows{" → ", "- → module", "conv → module.conv",
                                          "act → module.act", "fc → module.fc"}));
}

TEST(Comparison, RemovedModulesKeepTheirPosition) {
  WrittenReport a({{"", "Net"}, {"a", "A"}, {"b", "B"}, {"c", "C"}});
  WrittenReport b({{"", "Net"}, {"a", "A"}, {"c", "C"}, {"d", "D"}});
  EXPECT_EQ(rows(a.get(), b.get()), (Rows{" → ", "a → a", "b → -", "c → c", "- → d"}));
  const auto pairs = compare(a.get(), b.get()).pairs;
  EXPECT_EQ(pairs[2].flags, uint32_t{TMETER_PAIR_REMOVED});
  EXPECT_EQ(pairs[4].flags, uint32_t{TMETER_PAIR_ADDED});
}

TEST(Comparison, DifferentValuesAreFlaggedAndOneSidedMetricsAreNoted) {
  WrittenReport a({{"", "Net"}, {"a", "A"}, {"b", "B"}}), b({{"", "Net"}, {"a", "A"}, {"b", "B"}});
  a.values("macs", {number(int64_t{3}), number(int64_t{1}), number(int64_t{2})});
  b.values("macs", {number(int64_t{3}), number(int64_t{2}), number(int64_t{2})});
  a.values("gone", {number(int64_t{1}), {}, {}});
  const auto comparison = compare(a.get(), b.get());
  EXPECT_EQ(comparison.pairs[0].flags, 0u);
  EXPECT_EQ(comparison.pairs[1].flags, uint32_t{TMETER_PAIR_FIGURES});
  EXPECT_EQ(comparison.pairs[2].flags, 0u);
  EXPECT_EQ(comparison.notes, (std::vector<std::string>{"only before: gone"}));
}

TEST(Comparison, APartialValueDiffersFromTheSameCompleteValue) {
  WrittenReport a(kOneModule), b(kOneModule);
  auto partial = number(int64_t{3});
  partial.flags = TMETER_NUMBER_PARTIAL;
  a.values("macs", {number(int64_t{3})});
  b.values("macs", {partial});
  EXPECT_EQ(compare(a.get(), b.get()).pairs[0].flags, uint32_t{TMETER_PAIR_FIGURES});
}

/// The change of `macs` from one value to another under an assertion.
AssertionResult change(const tmeter_number& from, const tmeter_number& to,
                       const std::string& text) {
  WrittenReport a(kOneModule), b(kOneModule);
  a.values("macs", {from});
  b.values("macs", {to});
  auto& after = b.get();
  after.comparison = compare(a.get(), after);
  return evaluate_change(parse_assertion(text), after);
}

TEST(ComparisonAssertions, BoundTheDifferenceExactly) {
  const auto big = int64_t{1} << 60;
  const auto result = change(number(big), number(big + 3), "diff.macs <= 2");
  EXPECT_EQ(result.value.i, 3);
  EXPECT_FALSE(result.holds);
  EXPECT_TRUE(change(number(big), number(big + 2), "diff.macs <= 2").holds);
}

TEST(ComparisonAssertions, BoundTheShareOfTheValueBefore) {
  EXPECT_TRUE(change(number(int64_t{100}), number(int64_t{102}), "diff.macs <= +2%").holds);
  EXPECT_FALSE(change(number(int64_t{100}), number(int64_t{103}), "diff.macs <= +2%").holds);
  EXPECT_TRUE(change(number(int64_t{0}), number(int64_t{0}), "diff.macs <= +2%").holds);
  EXPECT_FALSE(change(number(int64_t{0}), number(int64_t{1}), "diff.macs <= +2%").holds);
}

TEST(ComparisonAssertions, DoNotHoldForUnknownOrPartialValues) {
  auto partial = number(int64_t{5});
  partial.flags = TMETER_NUMBER_PARTIAL;
  const auto five = number(int64_t{5});
  EXPECT_FALSE(change(five, number_of_kind(TMETER_NUMBER_UNKNOWN), "diff.macs <= 100").holds);
  EXPECT_FALSE(change(number_of_kind(TMETER_NUMBER_UNAVAILABLE), five, "diff.macs <= 100").holds);
  EXPECT_FALSE(change(five, partial, "diff.macs <= 100").holds);
}

TEST(ComparisonAssertions, RefuseAModuleMissingInBothModels) {
  expect_error(ErrorKind::kUsage, {"no module 'layer9' in either model"}, [] {
    change(number(int64_t{1}), number(int64_t{1}), "module(\"layer9\").diff.macs < 1");
  });
}

}  // namespace
}  // namespace tmeter::core
