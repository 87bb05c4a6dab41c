// energy-advice: the distribution of a run's energy, and savings by precision, batch, fusion or
// another device, in joules of the energy model. Definitions: docs/conventions.md, "Energy".
#include "rules.hpp"

namespace {

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  energy_advice::Model model(graph, call);
  if (model.joules() <= 0)
    return call.set_provenance(energy_advice::kHeadroom, TMETER_PROVENANCE_UNAVAILABLE,
                               "the energy is not known");
  energy_advice::report_shares(model);
  energy_advice::report_precision(model);
  energy_advice::report_batch(model);
  energy_advice::report_fusion(model);
  energy_advice::report_devices(model);
  call.emit(energy_advice::kHeadroom, TMETER_AXIS_MODEL, 0, tmeter::Cell(model.headroom()));
  call.set_provenance(energy_advice::kHeadroom, TMETER_PROVENANCE_ESTIMATED, model.by());
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.energy-advice",
        .version = "1.0.0",
        .description = "The distribution of the energy, and changes that would save some of it",
        .needs = "energy",
    }),
    [](tmeter::Registrar& r) {
      r.metric({.id = energy_advice::kHeadroom,
                .title = "energy headroom",
                .unit_kind = TMETER_UNIT_RATIO,
                .axis = TMETER_AXIS_MODEL,
                .aggregation = TMETER_AGGREGATE_NONE,
                .flags = TMETER_METRIC_DETAIL,
                .convention = "largest share of the energy that one change would save, as "
                              "energy-advice reports it"});
      r.analysis("energy-advice",
                 "energy energy_compute energy_memory energy_static macs other_flops read_bytes "
                 "written_bytes",
                 energy_advice::kHeadroom, run);
    })
