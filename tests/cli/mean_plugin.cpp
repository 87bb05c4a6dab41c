// A third-party metric that is a mean: how well operators use the machine, weighted by the metric
// that MEAN_WEIGHT names.
#include <cstdlib>
#include <string>
#include <tmeter/cpp/plugin.hpp>

TMETER_PLUGIN("com.stranger.mean", "1.0.0", [](tmeter::Registrar& r) {
  static const std::string weight = std::getenv("MEAN_WEIGHT");
  r.metric({.id = "usage",
            .title = "usage",
            .unit_kind = TMETER_UNIT_RATIO,
            .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
            .convention = "share of the peak rate",
            .weight = weight});
  r.op("aten::linear").handle("usage", [](const tmeter::Node& n) {
    return n.output().shape().back() == 10 ? 1.0 : 0.5;
  });
  r.op("acme::gated_mlp").handle("usage", [](const tmeter::Node&) { return 0.25; });
  r.op("*").handle("usage", [](const tmeter::Node&) { return tmeter::Cell(); });
})
