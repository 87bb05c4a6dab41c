#include "core/structure/module_io.hpp"

#include <tmeter/abi/graph.h>

namespace tmeter::core {
namespace {

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), calls_(graph.calls().size()) {}

  std::vector<ModuleIo> run() {
    for (const auto& node : graph_.nodes())
      for (const auto& arg : node.args) cross(*arg.value, node.call);
    for (const auto* output : graph_.outputs()) cross(*output, nullptr);
    std::vector<ModuleIo> modules(graph_.modules().size());
    std::vector<bool> seen(modules.size());
    for (const auto& call : graph_.calls()) {
      const auto m = call.module->index;
      if (!seen[m]) modules[m] = calls_[call.index];
      seen[m] = true;
    }
    return modules;
  }

 private:
  static bool is_inside(const ModuleCall* call, const ModuleCall* outer) {
    for (; call; call = call->parent)
      if (call == outer) return true;
    return false;
  }

  /// A value goes from its maker's call into the call `user`; null is outside of all.
  void cross(const Value& value, const ModuleCall* user) {
    if (value.kind == TMETER_VALUE_LIST) {
      for (const auto* item : value.items) cross(*item, user);
      return;
    }
    if (value.kind != TMETER_VALUE_TENSOR || value.tensor) return;
    const auto* maker = value.producer ? value.producer->call : nullptr;
    for (const auto* c = user; c && !is_inside(maker, c); c = c->parent) {
      auto& input = calls_[c->index].input;
      if (!input) input = &value;
    }
    for (const auto* c = maker; c && !is_inside(user, c); c = c->parent) {
      auto& output = calls_[c->index].output;
      if (!output || output->producer->index <= value.producer->index) output = &value;
    }
  }

  const Graph& graph_;
  std::vector<ModuleIo> calls_;
};

}  // namespace

std::vector<ModuleIo> module_io(const Graph& graph) { return Finder(graph).run(); }

}  // namespace tmeter::core
