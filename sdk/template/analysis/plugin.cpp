// Values computed from those of other plugins. An analysis runs once, after those plugins.
#include <tmeter/cpp/plugin.hpp>

// FLOPs for each byte that an operator reads or writes. An operator with a small number waits for
// memory.
static void intensity(const tmeter::Graph& graph, tmeter::Call& call) {
  for (const auto& node : graph.nodes()) {
    const auto flops = call.read("flops", node);
    const auto read = call.read("read_bytes", node), written = call.read("written_bytes", node);
    if (!flops.is_number() || !read.is_number() || !written.is_number())
      continue;  // unknown stays unknown
    const double bytes = read.real() + written.real();
    if (bytes > 0)
      call.emit("@name@", TMETER_AXIS_NODE, node.index(), tmeter::Cell(flops.real() / bytes));
  }
}

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.example.@name@",
                                       .version = "1.0.0",
                                       .description = "FLOPs for each byte moved",
                                       .needs = "flops memory"}),
                   [](tmeter::Registrar& r) {
                     r.metric({.id = "@name@",
                               .title = "FLOP/B",
                               .unit = "FLOP/B",
                               .unit_kind = TMETER_UNIT_OTHER,
                               .axis = TMETER_AXIS_NODE,
                               .aggregation = TMETER_AGGREGATE_MAX,
                               .better = TMETER_BETTER_HIGHER,
                               .convention = "flops / (read_bytes + written_bytes) of an operator",
                               .description = "the highest of the operators in a module"});
                     r.analysis("@name@", "flops read_bytes written_bytes", "@name@", intensity);
                   })
