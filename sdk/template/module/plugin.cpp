// The cost of a kernel for a whole module: here linear layers with half of their weights
// zero, two of each four, which the kernel skips.
#include <tmeter/cpp/plugin.hpp>

// Inside the call the metric has the cost of the separate operators.
static tmeter::Cell macs(const tmeter::Graph&, const tmeter::ModuleCall& layer,
                         tmeter::Call& call) {
  tmeter::Count sum = 0;
  for (const auto& node : layer.nodes()) {
    const auto cell = call.read("macs", node);
    if (!cell.known()) return tmeter::Cell::unsupported();  // the operators' values are used
    sum += cell.count();
  }
  return sum / 2;
}

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.example.@name@",
                                       .version = "1.0.0",
                                       .description = "linear layers with two of four weights",
                                       .needs = "flops"}),
                   [](tmeter::Registrar& r) {
                     // The type's last part; "acme.nn.SparseLinear" would mean only that type.
                     r.module_type("Linear", "macs", macs);
                   })
