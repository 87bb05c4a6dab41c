// parallelism-advice: work that is too small for the machine, and how much larger it could be.
// Definitions: docs/conventions.md, "Parallelism".
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  advice::Ledger ledger(graph, call);
  parallelism::Model model{graph, call, ledger};
  parallelism::say_batch(model);
  parallelism::say_overhead(model);
  parallelism::say_serial(model);
  parallelism::say_threads(model);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.parallelism-advice",
                       .version = "1.0.0",
                       .description = "Work too small for the machine, and how large a batch pays",
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
                               .convention =
                                   "throughput of the present batch over that of an endless one, "
                                   "which reads weights for nothing; dim 0 of the inputs is taken "
                                   "for the batch"});
                     r.analysis("parallelism-advice",
                                "macs other_flops read_bytes written_bytes predicted_time "
                                "peak_activation_bytes",
                                parallelism::kBatchEfficiency, run);
                   })
