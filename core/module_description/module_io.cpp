#include "core/module_description/module_io.hpp"

#include <tmeter/abi/graph.h>

#include <utility>

namespace tmeter::core {
namespace {

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), parents_(graph.belonging().parent_of_call), calls_(graph.calls().size()) {
    depths_.reserve(parents_.size());
    for (const auto parent : parents_)  // callers come before what they call
      depths_.push_back(parent == kNone ? 1 : depths_[parent] + 1);
  }

  std::vector<ModuleIo> run() {
    for (const auto& node : graph_.nodes())
      for (const auto& arg : node.args) cross(*arg.value, number_of(node.call));
    for (const auto* output : graph_.outputs()) cross(*output, kNone);
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
  static constexpr uint32_t kNone = Belonging::kNone;
  static uint32_t number_of(const ModuleCall* call) {
    return call ? static_cast<uint32_t>(call->index) : kNone;
  }
  size_t depth(uint32_t call) const { return call == kNone ? 0 : depths_[call]; }

  /// A value goes from its maker's call into the call `user`; none is outside of all. It leaves and
  /// enters what is not around both.
  void cross(const Value& value, uint32_t user) {
    if (value.kind == TMETER_VALUE_LIST) {
      for (const auto* item : value.items) cross(*item, user);
      return;
    }
    if (value.kind != TMETER_VALUE_TENSOR || value.tensor) return;
    auto maker = value.producer ? number_of(value.producer->call) : kNone;
    while (user != maker) {
      const auto users = depth(user), makers = depth(maker);
      if (users >= makers) enter(value, std::exchange(user, parents_[user]));
      if (makers >= users) leave(value, std::exchange(maker, parents_[maker]));
    }
  }
  void enter(const Value& value, uint32_t call) {
    auto& input = calls_[call].input;
    if (!input) input = &value;
  }
  void leave(const Value& value, uint32_t call) {
    auto& output = calls_[call].output;
    if (!output || output->producer->index <= value.producer->index) output = &value;
  }

  const Graph& graph_;
  const std::vector<uint32_t>& parents_;
  std::vector<uint32_t> depths_;
  std::vector<ModuleIo> calls_;
};

}  // namespace

std::vector<ModuleIo> module_io(const Graph& graph) { return Finder(graph).run(); }

}  // namespace tmeter::core
