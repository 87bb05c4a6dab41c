// The engine's semantics, with plugins defined in the test.
#include "core/analysis/engine.hpp"

#include <gtest/gtest.h>

#include <climits>

#include "core/analysis/requests.hpp"
#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fake_plugin.hpp"

namespace tmeter::core {
namespace {
using testing::emit_at;
using testing::expect_error;
using testing::fail;
using testing::FakePlugin;
using testing::give;
using testing::value_at;
using Id = GraphBuilder::Id;

/// root → block, which is called twice → leaf. Each operator takes [2, 3] unless stated otherwise.
class EngineTest : public ::testing::Test {
 protected:
  static constexpr int32_t kFloat = 6;
  void op(const std::string& name, Id call, std::vector<DimSpec> dims = {{2}, {3}}) {
    const auto x = b.value_from_outside(kFloat, dims);
    b.input("x", "recorded", x);
    const std::vector<std::pair<std::string_view, Id>> args{{"self", x}};
    const std::vector<Id> results{b.value_tensor(kFloat, dims)};
    b.node("aten::" + name, "", call, args, results, "");
  }
  Results run() {
    Engine engine(finished(), plugins(), log, nullptr);
    return engine.run();
  }
  const Graph& finished() {
    if (!graph) graph = b.finish();
    return *graph;
  }
  std::vector<Plugin*> plugins() { return {&own.get(), &acme.get()}; }
  void expect_failure(const std::vector<std::string>& words) {
    expect_error(ErrorKind::kPlugin, words, [&] { run(); });
  }
  /// The model's total; -1 unless it is an integer.
  static int64_t total(const Results& results, std::string_view metric) {
    const auto* c = results.find(metric);
    const auto n = c ? c->cell(TMETER_AXIS_MODEL, 0) : tmeter_number{};
    return n.kind == TMETER_NUMBER_INT ? n.i : -1;
  }
  static FakePlugin::OnNode gives(int64_t n) {
    return [n](tmeter_call* c, const Node&) { return give(c, number(n)); };
  }

  GraphBuilder b;
  Id root = b.module(0, "", "Net"), block = b.module(root, "block", "acme.Block"),
     leaf = b.module(block, "leaf", "Leaf");
  Id top = b.module_call(root, 0), first = b.module_call(block, top),
     inside_first = b.module_call(leaf, first), second = b.module_call(block, top),
     inside_second = b.module_call(leaf, second);
  std::unique_ptr<Graph> graph;
  CallLog log;
  FakePlugin own{"org.tmeter.own"}, acme{"com.acme.plugin"};
};

// Order of evaluation.

TEST_F(EngineTest, AHandlerReadsTheFinalValueOfAMetricThatComesLater) {
  op("f", top);
  own.metric("twice").handler("twice", "aten::f", [](tmeter_call* c, const Node& n) {
    return give(c, number(2 * value_at(c, "once", TMETER_AXIS_NODE, n.index).i));
  });
  acme.metric("once").handler("once", "aten::f", gives(21));
  EXPECT_EQ(total(run(), "twice"), 42);
}

TEST_F(EngineTest, AnAnalysisReadsRollUpsOfItsRequiredMetrics) {
  op("f", first);
  op("f", second);
  own.metric("sum", {.axis = TMETER_AXIS_MODEL, .aggregation = TMETER_AGGREGATE_NONE})
      .analysis("adds up", "once", "sum", [](tmeter_call* c, const Graph&) {
        return emit_at(c, "sum", TMETER_AXIS_MODEL, 0, value_at(c, "once", TMETER_AXIS_MODEL, 0).i);
      });
  acme.metric("once").handler("once", "aten::f", gives(4));
  EXPECT_EQ(total(run(), "sum"), 8);
}

TEST_F(EngineTest, AnAnalysisReadsItsOwnEmittedValues) {
  op("f", top);
  int64_t seen = 0;
  own.metric("m").analysis("emits", "", "m", [&](tmeter_call* c, const Graph&) {
    emit_at(c, "m", TMETER_AXIS_NODE, 0, 5);
    seen = value_at(c, "m", TMETER_AXIS_NODE, 0).i;
    return TMETER_OK;
  });
  EXPECT_EQ(total(run(), "m"), 5);
  EXPECT_EQ(seen, 5);
}

TEST_F(EngineTest, EachAnalysisRunsOnceAndEachNodeIsComputedOnce) {
  op("f", top);
  int analyses = 0, calls = 0;
  own.metric("a").handler("a", "aten::f", [&](tmeter_call* c, const Node&) {
    return ++calls, give(c, number(int64_t{1}));
  });
  acme.metric("x", {.axis = TMETER_AXIS_MODEL, .aggregation = TMETER_AGGREGATE_NONE});
  acme.metric("y", {.axis = TMETER_AXIS_MODEL, .aggregation = TMETER_AGGREGATE_NONE});
  acme.analysis("both", "a", "x y", [&](tmeter_call* c, const Graph&) {
    value_at(c, "a", TMETER_AXIS_NODE, 0);
    return ++analyses, TMETER_OK;
  });
  run();
  EXPECT_EQ(analyses, 1);
  EXPECT_EQ(calls, 1);
}

TEST_F(EngineTest, HandlersAreCalledByOverloadThenOperatorThenWildcardAndPriority) {
  op("f", top);
  op("g", top);
  own.metric("m")
      .handler("m", "*", gives(1))
      .handler("m", "aten::f", gives(2))
      .handler(
          "m", "aten::f", [](tmeter_call*, const Node&) { return TMETER_UNSUPPORTED; }, 0, 9);
  EXPECT_EQ(total(run(), "m"), 3);
}

// Cycles.

TEST_F(EngineTest, HandlersThatNeedEachOtherAreBothNamed) {
  op("f", top);
  own.metric("a").handler("a", "aten::f", [](tmeter_call* c, const Node& n) {
    return give(c, value_at(c, "b", TMETER_AXIS_NODE, n.index));
  });
  acme.metric("b").handler("b", "aten::f", [](tmeter_call* c, const Node& n) {
    return give(c, value_at(c, "a", TMETER_AXIS_NODE, n.index));
  });
  expect_failure({"'a' (plugin org.tmeter.own)", "'b' (plugin com.acme.plugin)"});
}

TEST_F(EngineTest, AnalysesThatRequireEachOtherAreBothNamed) {
  const testing::MetricSpec none{.axis = TMETER_AXIS_MODEL, .aggregation = TMETER_AGGREGATE_NONE};
  const auto nothing = [](tmeter_call*, const Graph&) { return TMETER_OK; };
  own.metric("a", none).analysis("makes a", "b", "a", nothing);
  acme.metric("b", none).analysis("makes b", "a", "b", nothing);
  expect_failure({"'makes a'", "'makes b'"});
}

TEST_F(EngineTest, AMetricMayReadItselfAtOtherOperators) {
  op("f", top);
  op("f", top);
  own.metric("depth").handler("depth", "aten::f", [](tmeter_call* c, const Node& n) {
    const auto before = n.index ? value_at(c, "depth", TMETER_AXIS_NODE, n.index - 1).i : 0;
    return give(c, number(before + 1));
  });
  EXPECT_EQ(total(run(), "depth"), 1 + 2);
}

// Signatures.

TEST_F(EngineTest, AHandlerBySignatureIsCalledTwiceForEachSignature) {
  for (int i = 0; i < 10; ++i) op("f", top);
  for (int i = 0; i < 10; ++i) op("f", second, {{4}, {4}});
  int calls = 0;
  own.metric("m").handler(
      "m", "aten::f",
      [&](tmeter_call* c, const Node& n) {
        return ++calls, give(c, number(n.args[0].value->dims[0]));
      },
      TMETER_HANDLER_BY_SIGNATURE);
  EXPECT_EQ(total(run(), "m"), 10 * 2 + 10 * 4);
  EXPECT_EQ(calls, 4);
}

TEST_F(EngineTest, AHandlerNotBySignatureIsCalledForEachOperator) {
  for (int i = 0; i < 10; ++i) op("f", top);
  int calls = 0;
  own.metric("m").handler("m", "aten::f", [&](tmeter_call* c, const Node&) {
    return ++calls, give(c, number(int64_t{1}));
  });
  EXPECT_EQ(total(run(), "m"), 10);
  EXPECT_EQ(calls, 10);
}

TEST_F(EngineTest, AHandlerBySignatureWithStateFails) {
  for (int i = 0; i < 10; ++i) op("f", top);
  int64_t calls = 0;
  acme.metric("m").handler(
      "m", "aten::f", [&](tmeter_call* c, const Node&) { return give(c, number(++calls)); },
      TMETER_HANDLER_BY_SIGNATURE);
  expect_failure({"com.acme.plugin", "TMETER_HANDLER_BY_SIGNATURE", "node 1"});
}

TEST_F(EngineTest, AHandlerThatReadsMoreThanTheSignatureSharesNoValues) {
  for (int i = 0; i < 10; ++i) op("f", top);
  int calls = 0;
  own.metric("m").handler(
      "m", "aten::f",
      [&](tmeter_call* c, const Node& n) {
        const auto* call = graph_interface()->node_module_call(to_handle(&n));
        return ++calls, give(c, number(int64_t{call != nullptr}));
      },
      TMETER_HANDLER_BY_SIGNATURE);
  EXPECT_EQ(total(run(), "m"), 10);
  EXPECT_EQ(calls, 10);
}

TEST_F(EngineTest, AHandlerBySignatureMayReadASharedValueAtTheSameOperator) {
  for (int i = 0; i < 10; ++i) op("f", top);
  int calls = 0;
  const auto reads_at = [&](size_t offset) {
    return [&calls, offset](tmeter_call* c, const Node& n) {
      ++calls;
      const size_t at = n.index < offset ? 0 : n.index - offset;
      return give(c, value_at(c, "base", TMETER_AXIS_NODE, at));
    };
  };
  own.metric("base").handler("base", "aten::f", gives(3), TMETER_HANDLER_BY_SIGNATURE);
  own.metric("same").handler("same", "aten::f", reads_at(0), TMETER_HANDLER_BY_SIGNATURE);
  EXPECT_EQ(total(run(), "same"), 30);
  EXPECT_EQ(calls, 2);
  calls = 0;
  acme.metric("before").handler("before", "aten::f", reads_at(1), TMETER_HANDLER_BY_SIGNATURE);
  EXPECT_EQ(total(run(), "before"), 30);
  EXPECT_EQ(calls, 2 + 10);
}

// Values that are missing, partial or assumed.

TEST_F(EngineTest, AnOperatorWithoutAHandlerIsUnknownAndTheTotalPartial) {
  op("f", top);
  op("g", first);
  own.metric("m", {.flags = TMETER_METRIC_COVERAGE}).handler("m", "aten::f", gives(3));
  const auto results = run();
  const auto& c = *results.find("m");
  EXPECT_EQ(c.cell(TMETER_AXIS_NODE, 1).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(total(results, "m"), 3);
  EXPECT_TRUE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
  EXPECT_EQ(results.coverage.unknown, 1u);
  EXPECT_EQ(results.coverage.counted, 1u);
}

TEST_F(EngineTest, AZeroByRuleNeedsNoCallOfTheHandler) {
  op("f", top);
  own.metric("m", {.flags = TMETER_METRIC_COVERAGE})
      .handler(
          "m", "aten::f",
          [](tmeter_call* c, const Node&) { return fail(c, "is not to be called"); },
          TMETER_HANDLER_ZERO_BY_RULE);
  const auto results = run();
  EXPECT_EQ(results.find("m")->cell(TMETER_AXIS_NODE, 0).kind, TMETER_NUMBER_ZERO_BY_RULE);
  EXPECT_EQ(results.coverage.zero_by_rule, 1u);
}

TEST_F(EngineTest, CellsThatAnAnalysisDoesNotEmitStayEmpty) {
  op("f", top);
  op("f", top);
  own.metric("m").analysis("emits one", "", "m", [](tmeter_call* c, const Graph&) {
    return emit_at(c, "m", TMETER_AXIS_NODE, 1, 7);
  });
  const auto results = run();
  const auto& c = *results.find("m");
  EXPECT_EQ(c.cell(TMETER_AXIS_NODE, 0).kind, TMETER_NUMBER_NONE);
  EXPECT_EQ(total(results, "m"), 7);
  EXPECT_FALSE(is_partial(c.cell(TMETER_AXIS_MODEL, 0)));
}

TEST_F(EngineTest, ValuesOfAModelWithAssumedSizesAreAssumedExceptForTensors) {
  op("f", top);
  b.property("assumed", "a branch was chosen");
  own.metric("m").handler("m", "aten::f", gives(3));
  own.metric("t", {.axis = TMETER_AXIS_TENSOR});
  const auto results = run();
  EXPECT_TRUE(is_assumed(results.find("m")->cell(TMETER_AXIS_MODEL, 0)));
  EXPECT_FALSE(is_assumed(results.find("t")->cell(TMETER_AXIS_MODEL, 0)));
}

TEST_F(EngineTest, AFailedPluginIsNotCalledAndItsCellsAreUnavailable) {
  op("f", top);
  acme.metric("m").handler("m", "aten::f", gives(3));
  acme.get().failure = "it crashed";
  const auto results = run();
  const auto& c = *results.find("m");
  EXPECT_EQ(c.cell(TMETER_AXIS_NODE, 0).kind, TMETER_NUMBER_UNAVAILABLE);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_UNAVAILABLE);
  EXPECT_EQ(c.provenance_text, "it crashed");
}

// Roll-ups and module handlers.

TEST_F(EngineTest, AModuleThatIsCalledTwiceCountsForEachCall) {
  op("f", inside_first);
  op("f", inside_second);
  op("f", top);
  own.metric("m").handler("m", "aten::f", gives(5));
  const auto results = run();
  const auto& c = *results.find("m");
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 1).i, 5);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 10);
  EXPECT_EQ(total(results, "m"), 15);
}

TEST_F(EngineTest, AWeightedMeanRequiresItsWeightFirst) {
  op("f", top);
  op("g", top, {{6}, {6}});
  own.metric("mean", {.aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN, .weight = "weight"})
      .handler("mean", "aten::f", gives(10))
      .handler("mean", "aten::g", gives(20));
  acme.metric("weight")
      .handler("weight", "aten::f", gives(1))
      .handler("weight", "aten::g", gives(3));
  const auto results = run();
  EXPECT_DOUBLE_EQ(results.find("mean")->cell(TMETER_AXIS_MODEL, 0).f, (10 + 60) / 4.0);
}

TEST_F(EngineTest, AModuleHandlerReplacesTheValuesInsideItsCall) {
  op("f", inside_first);
  op("f", inside_second);
  op("f", top);
  own.metric("m").handler("m", "aten::f", gives(5));
  acme.module_handler("m", "Block", [this](tmeter_call* c, const ModuleCall& call) {
    return call.index + 1 == first ? give(c, number(int64_t{100})) : TMETER_UNSUPPORTED;
  });
  const auto results = run();
  const auto& c = *results.find("m");
  EXPECT_EQ(c.cell(TMETER_AXIS_NODE, 0).kind, TMETER_NUMBER_IN_MODULE);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE_CALL, 2).kind, TMETER_NUMBER_IN_MODULE);
  EXPECT_TRUE(is_by_module(c.cell(TMETER_AXIS_MODULE_CALL, 1)));
  EXPECT_EQ(total(results, "m"), 100 + 5 + 5);
  EXPECT_EQ(log.warnings().size(), 1u) << "the override is reported";
}

TEST_F(EngineTest, AModuleHandlerReadsItsMetricAtTheOperatorsInside) {
  op("f", inside_first);
  op("f", inside_second);
  own.metric("m").handler("m", "aten::f", gives(5));
  own.module_handler("m", "Block", [](tmeter_call* c, const ModuleCall& call) {
    const size_t node = call.index == 1 ? 0 : 1;
    return give(c, number(1000 + value_at(c, "m", TMETER_AXIS_NODE, node).i));
  });
  EXPECT_EQ(total(run(), "m"), 2 * 1005);
}

TEST_F(EngineTest, AModuleHandlerFollowsTheCallsAnsweredUnderAnotherMetric) {
  op("f", inside_first);
  op("f", inside_second);
  own.metric("m").handler("m", "aten::f", gives(5));
  own.metric("n").handler("n", "aten::f", gives(7));
  own.module_handler("m", "Block", [this](tmeter_call* c, const ModuleCall& call) {
    return call.index + 1 == first ? give(c, number(int64_t{100})) : TMETER_UNSUPPORTED;
  });
  own.module_handler(
      "n", "*", [](tmeter_call* c, const ModuleCall&) { return give(c, number(int64_t{1})); }, "m");
  EXPECT_EQ(total(run(), "n"), 1 + 7);
}

TEST_F(EngineTest, ASumBeyond63BitsIsAnErrorOfTheThirdPartyPlugin) {
  op("f", top);
  op("g", top);
  acme.metric("m").handler("m", "*", gives(INT64_MAX));
  expect_failure({"com.acme.plugin", "on metric 'm'", "exceeds 2^63"});
}

TEST_F(EngineTest, ASumBeyond63BitsOfTmetersPluginsIsAnErrorOfTheModel) {
  op("f", top);
  op("g", top);
  own.metric("m").handler("m", "*", gives(INT64_MAX));
  expect_error(ErrorKind::kModel, {"'m'", "exceeds 2^63"}, [&] { run(); });
}

// Failures.

TEST_F(EngineTest, AFailureNamesPluginMetricAndOperator) {
  op("f", inside_first);
  acme.metric("m").handler("m", "aten::f",
                           [](tmeter_call* c, const Node&) { return fail(c, "no such table"); });
  expect_failure(
      {"com.acme.plugin", "on metric 'm'", "node 0", "aten::f", "block.leaf", "no such table"});
}

TEST_F(EngineTest, AFailureInsideAnotherMetricsHandlerNamesTheFailedPlugin) {
  op("f", top);
  own.metric("outer").handler("outer", "aten::f", [](tmeter_call* c, const Node& n) {
    return give(c, value_at(c, "inner", TMETER_AXIS_NODE, n.index));
  });
  acme.metric("inner").handler("inner", "aten::f",
                               [](tmeter_call* c, const Node&) { return fail(c, "broken"); });
  expect_failure({"com.acme.plugin", "'inner'", "broken"});
}

TEST_F(EngineTest, AHandlerThatSucceedsMustGiveAValue) {
  op("f", top);
  acme.metric("m").handler("m", "aten::f", [](tmeter_call*, const Node&) { return TMETER_OK; });
  expect_failure({"com.acme.plugin", "gives no value"});
}

TEST_F(EngineTest, AnAnalysisWritesItsOwnMetricsAndRowsThatExist) {
  op("f", top);
  own.metric("own").handler("own", "*", gives(1));
  acme.metric("m", {.aggregation = TMETER_AGGREGATE_NONE});
  FakePlugin::OnGraph emits;
  acme.analysis("emits", "", "m", [&](tmeter_call* c, const Graph& g) { return emits(c, g); });
  emits = [](tmeter_call* c, const Graph&) { return emit_at(c, "own", TMETER_AXIS_NODE, 0, 1); };
  expect_failure({"com.acme.plugin", "belongs to plugin org.tmeter.own"});
  emits = [](tmeter_call* c, const Graph&) { return emit_at(c, "m", TMETER_AXIS_NODE, 1, 1); };
  expect_failure({"com.acme.plugin", "row 1"});
  emits = [](tmeter_call* c, const Graph&) { return emit_at(c, "m", TMETER_AXIS_TENSOR, 0, 1); };
  expect_failure({"com.acme.plugin", "another table"});
  emits = [](tmeter_call* c, const Graph&) { return emit_at(c, "m", TMETER_AXIS_NODE, 0, -1); };
  expect_failure({"com.acme.plugin", "below 0"});
  emits = [](tmeter_call* c, const Graph&) {
    return emit_at(c, "missing", TMETER_AXIS_NODE, 0, 1);
  };
  expect_failure({"com.acme.plugin", "'missing' is not declared"});
}

TEST_F(EngineTest, AnAnalysisThatRequiresAMissingMetricFails) {
  acme.analysis("needs it", "missing", "", [](tmeter_call*, const Graph&) { return TMETER_OK; });
  expect_failure({"com.acme.plugin", "'needs it'", "'missing' is required"});
}

TEST_F(EngineTest, AHandlerForAMetricOfAnAnalysisIsAnError) {
  own.metric("m").analysis("makes m", "", "m",
                           [](tmeter_call*, const Graph&) { return TMETER_OK; });
  acme.handler("m", "aten::f", gives(1));
  expect_failure({"com.acme.plugin", "'m'", "its handlers are not called"});
}

TEST_F(EngineTest, TwoPluginsMayNotDefineOneMetric) {
  own.metric("m");
  acme.metric("m");
  expect_failure({"org.tmeter.own", "com.acme.plugin", "both define metric 'm'"});
}

// Metrics on request, other sizes.

TEST_F(EngineTest, AMetricOnRequestIsLeftOutUnlessItIsRequested) {
  op("f", top);
  int calls = 0;
  own.metric("m", {.flags = TMETER_METRIC_ON_REQUEST})
      .handler("m", "aten::f",
               [&](tmeter_call* c, const Node&) { return ++calls, give(c, number(int64_t{3})); });
  choose_requested(plugins(), {});
  EXPECT_EQ(run().find("m"), nullptr);
  EXPECT_EQ(calls, 0);
  choose_requested(plugins(), {.ids = {"m"}, .names = {}});
  EXPECT_EQ(total(run(), "m"), 3);
}

TEST_F(EngineTest, ARunningAnalysisRequestsItsRequiredMetrics) {
  op("f", top);
  own.metric("m", {.flags = TMETER_METRIC_ON_REQUEST}).handler("m", "aten::f", gives(3));
  acme.analysis("advises", "m", "", [](tmeter_call*, const Graph&) { return TMETER_OK; });
  choose_requested(plugins(), {});
  EXPECT_EQ(total(run(), "m"), 3);
}

TEST_F(EngineTest, RunNodesFollowsTheSizesOfTheGraph) {
  const auto n = b.expr_symbol(b.symbol("n", 1, 100, 4));
  for (int i = 0; i < 5; ++i) op("f", top, {{4, n}, {3}});
  own.metric("m").handler(
      "m", "aten::f",
      [](tmeter_call* c, const Node& node) { return give(c, number(node.args[0].value->dims[0])); },
      TMETER_HANDLER_BY_SIGNATURE);
  b.property("name", "dynamic");
  graph = b.finish();
  Engine engine(*graph, plugins(), log, nullptr);
  const auto all = [](const Column&) { return true; };
  EXPECT_EQ(total(engine.run_nodes(all), "m"), 5 * 4);
  graph->bind({{"n", 9}});
  EXPECT_EQ(total(engine.run_nodes(all), "m"), 5 * 9);
}

TEST_F(EngineTest, EnginesNestAndRestoreThePluginsContext) {
  op("f", top);
  own.metric("m").handler("m", "aten::f", gives(3));
  Engine outer(finished(), plugins(), log, nullptr);
  const auto* results_of_outer = own.get().call.run.results;
  {
    Engine inner(finished(), plugins(), log, nullptr);
    EXPECT_NE(own.get().call.run.results, results_of_outer);
    EXPECT_EQ(total(inner.run(), "m"), 3);
  }
  EXPECT_EQ(own.get().call.run.results, results_of_outer);
  EXPECT_EQ(total(outer.run(), "m"), 3);
}

TEST_F(EngineTest, AFileOfWeightsAloneHasNoTotalsOfOperators) {
  b.property("content", "weights");
  own.metric("m").handler("m", "aten::f", gives(3));
  const auto results = run();
  EXPECT_EQ(results.find("m")->cell(TMETER_AXIS_MODEL, 0).kind, TMETER_NUMBER_UNAVAILABLE);
  EXPECT_EQ(results.find("m")->provenance, TMETER_PROVENANCE_UNAVAILABLE);
}

}  // namespace
}  // namespace tmeter::core
