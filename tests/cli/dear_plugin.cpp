// Third-party metrics that take long: one of an analysis, one of operators. With DEAR_NEEDED, a
// second analysis requires the first and produces a metric that is always shown.
#include <cstdlib>
#include <tmeter/cpp/plugin.hpp>

TMETER_PLUGIN("com.stranger.dear", "1.0.0", [](tmeter::Registrar& r) {
  const auto metric = [&](std::string_view id, int32_t axis, uint32_t flags) {
    r.metric(
        {.id = id,
         .title = id,
         .axis = axis,
         .aggregation = axis == TMETER_AXIS_NODE ? TMETER_AGGREGATE_SUM : TMETER_AGGREGATE_NONE,
         .flags = flags,
         .convention = "how dear it is"});
  };
  metric("dear_model", TMETER_AXIS_MODEL, TMETER_METRIC_ON_REQUEST);
  metric("dear_nodes", TMETER_AXIS_NODE, TMETER_METRIC_ON_REQUEST);
  metric("cheap", TMETER_AXIS_MODEL, 0);
  r.configure([](tmeter::Call& call) { call.set_convention("dear_model", "of this run"); });
  r.analysis("dear", "", "dear_model", [](const tmeter::Graph&, tmeter::Call& call) {
    call.warn("dear is worked out");
    call.emit("dear_model", TMETER_AXIS_MODEL, 0, tmeter::Count(7));
  });
  r.op("*").handle("dear_nodes", [](const tmeter::Node&) { return tmeter::Count(1); });
  const bool needed = std::getenv("DEAR_NEEDED") != nullptr;
  r.analysis("cheap", needed ? "dear_model" : "", "cheap",
             [needed](const tmeter::Graph&, tmeter::Call& call) {
               call.emit("cheap", TMETER_AXIS_MODEL, 0, tmeter::Count(needed ? 2 : 1));
             });
})
