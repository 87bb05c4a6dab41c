// architecture: the kind of network, by the operators that do its arithmetic.
#include <tmeter/cpp/plugin.hpp>

#include "profile.hpp"

namespace {

void report_findings(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;  // weights do not show it
  const auto profile = architecture::profile_of(graph, call);
  const auto found = architecture::classify(profile);
  call.emit("graph_depth", TMETER_AXIS_MODEL, 0,
            tmeter::Count(static_cast<int64_t>(profile.depth)));
  tmeter::Finding finding;
  finding.rule = "architecture";
  finding.text = found.kind + "; " + found.size;
  finding.evidence = found.evidence;
  call.add(finding);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.architecture",
                       .version = "1.0.0",
                       .description = "The kind of network, with the evidence",
                       .needs = "flops",
                   }),
                   [](tmeter::Registrar& r) {
                     r.metric({.id = "graph_depth",
                               .title = "depth",
                               .unit_kind = TMETER_UNIT_COUNT,
                               .axis = TMETER_AXIS_MODEL,
                               .aggregation = TMETER_AGGREGATE_NONE,
                               .better = TMETER_BETTER_NEITHER,
                               .convention =
                                   "operators in the longest chain in which each uses the "
                                   "result of the one before; views, copies and "
                                   "bookkeeping do not count"});
                     r.analysis("architecture", "macs", "graph_depth", report_findings);
                   })
