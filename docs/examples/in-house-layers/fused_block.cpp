// The cost of a kernel for the whole of acme.nn.FusedBlock, which skips half of the hidden values.
#include <tmeter/cpp/plugin.hpp>

// Inside the call the metric has the cost of the separate operators.
static tmeter::Cell macs(const tmeter::Graph&, const tmeter::ModuleCall& block,
                         tmeter::Call& call) {
  tmeter::Count sum = 0;
  for (const auto& node : block.nodes()) {
    const auto cell = call.read("macs", node);
    if (!cell.is_int() && !cell.is_zero_by_rule()) return tmeter::Cell::unsupported();
    sum += cell.count();
  }
  return sum / 2;
}

TMETER_PLUGIN("com.acme.blocks", "1.0.0",
              [](tmeter::Registrar& r) { r.module_type("acme.nn.FusedBlock", "macs", macs); });
