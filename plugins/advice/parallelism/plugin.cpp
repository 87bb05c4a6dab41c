// parallelism-advice: work that is too small for the machine, and the batch that would fill it.
// Definitions: docs/conventions.md, "Parallelism".
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  advice::SavingsEstimator estimator(graph, call);
  parallelism::Model model{graph, call, estimator};
  parallelism::report_batch(model);
  parallelism::report_overhead(model);
  parallelism::report_serial(model);
  parallelism::report_threads(model);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.parallelism-advice",
        .version = "1.0.0",
        .description = "Work too small for the machine, and the batch size that pays",
        .needs = "roofline",
    }),
    [](tmeter::Registrar& r) {
      r.metric({.id = parallelism::kBatchEfficiency,
                .title = "batch efficiency",
                .unit_kind = TMETER_UNIT_RATIO,
                .axis = TMETER_AXIS_MODEL,
                .aggregation = TMETER_AGGREGATE_NONE,
                .better = TMETER_BETTER_HIGHER,
                .flags = TMETER_METRIC_DETAIL,
                .convention = "throughput of the present batch divided by that of an "
                              "infinite one, for which reading weights costs nothing; dim 0 of "
                              "the inputs is the batch"});
      r.analysis("parallelism-advice",
                 "macs other_flops read_bytes written_bytes predicted_time "
                 "peak_activation_bytes",
                 parallelism::kBatchEfficiency, run);
    })
