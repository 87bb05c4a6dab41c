// An unknown plugin: metrics with every kind of value, a finding, a distribution, a series. The
// report shows all of it without a special case for the plugin.
#include <tmeter/cpp/plugin.hpp>

namespace {

constexpr int64_t kBeyondDoubles = (int64_t{1} << 53) + 1;

void strange_costs(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto emit = [&](size_t node, tmeter::Cell cell) {
    call.emit("strange_cost", TMETER_AXIS_NODE, node, cell);
  };
  for (size_t i = 0; i < graph.nodes().size(); ++i) emit(i, tmeter::Count(0));
  emit(0, tmeter::Count(kBeyondDoubles));
  emit(1, tmeter::Cell::zero_by_rule());
  emit(2, tmeter::Cell::unsupported());
  emit(3, tmeter::Cell::unavailable());
  call.emit("strange_mood", TMETER_AXIS_MODEL, 0, 0.25);
}

void strange_words(const tmeter::Graph& graph, tmeter::Call& call) {
  tmeter::Finding finding;
  finding.severity = TMETER_SEVERITY_ERROR;
  finding.rule = "strange";
  finding.text = "a strange thing at <b>the</b> first operator";
  finding.evidence = "strange evidence";
  finding.action = "do something strange";
  call.add(finding.about(graph.nodes()[0]));
  tmeter::Distribution values;
  values.id = "strange_values";
  values.title = "strange values";
  values.of = tmeter::target_of(graph.tensors()[0]);
  values.edges = {0, 1, 2};
  values.counts = {3, 5};
  call.add(values);
  tmeter::Series power;
  power.id = "strange_power";
  power.title = "strange power over time";
  power.x_title = "time";
  power.x_unit = "s";
  power.y_title = "power";
  power.y_unit = "W";
  power.x = {0, 1, 2};
  power.y = {10, 30, 20};
  call.add(power);
}

}  // namespace

TMETER_PLUGIN("com.stranger.strange", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "strange_cost",
            .title = "strange cost",
            .unit = "STR",
            .axis = TMETER_AXIS_NODE,
            .convention = "as strangers count"});
  r.metric({.id = "strange_mood",
            .title = "strange mood",
            .unit_kind = TMETER_UNIT_RATIO,
            .axis = TMETER_AXIS_MODEL,
            .aggregation = TMETER_AGGREGATE_NONE,
            .convention = "as strangers feel"});
  r.analysis("strange", "", "strange_cost strange_mood",
             [](const tmeter::Graph& graph, tmeter::Call& call) {
               strange_costs(graph, call);
               strange_words(graph, call);
             });
});
