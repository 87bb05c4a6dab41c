// layout-advice: how tensors lie in memory and of which types they are. Definitions:
// docs/conventions.md, "Layout and element types".
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  advice::Ledger ledger(graph, call);
  layout::Model model{graph, call, ledger, call.option_float("min-share")};
  layout::say_channels_last(model);
  layout::say_features(model);
  layout::say_copies(model);
  layout::say_dtypes(model);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.layout-advice",
                       .version = "1.0.0",
                       .description = "How tensors lie in memory, and of which types they are",
                       .needs = "roofline",
                   }),
                   [](tmeter::Registrar& r) {
                     r.option({.key = "min-share",
                               .type = TMETER_OPTION_FLOAT,
                               .default_value = "0.005",
                               .text = "share of the model's predicted time, or of its traffic "
                                       "where that is unknown, that copies and types must cost to "
                                       "be told",
                               .min = 0,
                               .max = 1});
                     r.metric({.id = layout::kReordered,
                               .title = "reordered",
                               .unit = "B",
                               .unit_kind = TMETER_UNIT_BYTE,
                               .flags = TMETER_METRIC_DETAIL,
                               .convention =
                                   "bytes read and written to lay tensors in another order: "
                                   "contiguous() of what is not, and reshapes that are no views; "
                                   "a lower bound, as the strides of some tensors are unknown"});
                     r.analysis("layout-advice", advice::kRequired, layout::kReordered, run);
                   })
