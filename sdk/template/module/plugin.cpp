// The cost of a kernel that does all of a module: here linear layers half of whose weights are
// zero, two of each four, which the kernel leaves out.
#include <tmeter/cpp/plugin.hpp>

// Inside the call the metric is what the operators cost by themselves.
static tmeter::Cell macs(const tmeter::Graph&, const tmeter::ModuleCall& layer,
                         tmeter::Call& call) {
  tmeter::Count sum = 0;
  for (const auto& node : layer.nodes()) {
    const auto cell = call.read("macs", node);
    if (!cell.known()) return tmeter::Cell::unsupported();  // the operators speak for themselves
    sum += cell.count();
  }
  return sum / 2;
}

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.example.@name@",
                                       .version = "1.0.0",
                                       .description = "linear layers with two of four weights",
                                       .needs = "flops"}),
                   [](tmeter::Registrar& r) {
                     // The type's last part; "acme.nn.SparseLinear" is one type alone.
                     r.module_type("Linear", "macs", macs);
                   })
