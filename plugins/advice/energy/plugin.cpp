// energy-advice: where the energy of a run goes, and what precision, batch, fusion or another
// device would save, in joules of the energy model. Definitions: docs/conventions.md, "Energy".
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  energy_advice::Model model(graph, call);
  if (model.joules() <= 0) return;
  energy_advice::report_shares(model);
  energy_advice::report_precision(model);
  energy_advice::report_batch(model);
  energy_advice::report_fusion(model);
  energy_advice::report_devices(model);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.energy-advice",
        .version = "1.0.0",
        .description = "Where the energy goes, and what would save some of it",
        .needs = "energy",
    }),
    [](tmeter::Registrar& r) {
      r.analysis("energy-advice",
                 "energy energy_compute energy_memory energy_static macs other_flops read_bytes "
                 "written_bytes",
                 "", run);
    })
