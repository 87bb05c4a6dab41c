// layout-advice: memory layout and element types of tensors. Definitions:
// docs/conventions.md, "Layout and element types".
#include "plugins/common/options.hpp"
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  advice::SavingsEstimator estimator(graph, call);
  layout::Model model{graph, call, estimator, call.option_float("min-share")};
  layout::report_channels_last(model);
  layout::report_features(model);
  layout::report_copies(model);
  layout::report_dtypes(model);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.layout-advice",
        .version = "1.0.0",
        .description =
            "Memory layout and element types of tensors, and the savings from other ones",
        .needs = "roofline",
    }),
    [](tmeter::Registrar& r) {
      r.option(plugins::real_option("min-share", "0.005", 0, 1,
                                    "smallest share of the model's predicted time, or of its "
                                    "traffic if that is unknown, that a reported finding saves"));
      r.metric({.id = layout::kReordered,
                .title = "reordered",
                .unit = "B",
                .unit_kind = TMETER_UNIT_BYTE,
                .flags = TMETER_METRIC_DETAIL,
                .convention = "bytes read and written to copy tensors into another order: "
                              "by contiguous(), and by reshapes that cannot be views; a lower "
                              "bound, because the strides of some tensors are unknown"});
      r.analysis("layout-advice", advice::kSavingsMetrics, layout::kReordered, run);
    })
