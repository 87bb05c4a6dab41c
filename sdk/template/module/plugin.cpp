// The cost of a module that one kernel computes: here linear layers with 2:4 sparsity. Two of
// every four weights are zero, and the kernel skips them.
#include <tmeter/cpp/plugin.hpp>

// For nodes inside the call, `macs` is the cost of the separate operators.
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
                                       .description = "MACs of linear layers with 2:4 sparsity",
                                       .needs = "flops"}),
                   [](tmeter::Registrar& r) {
                     // The type's last part; "acme.nn.SparseLinear" would mean only that type.
                     r.module_type("Linear", "macs", macs);
                   })
