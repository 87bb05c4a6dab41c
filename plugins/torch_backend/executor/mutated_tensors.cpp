#include "executor/mutated_tensors.hpp"

#include <unordered_map>

#include "operators/arguments.hpp"
#include "operators/graph_values.hpp"

namespace tmeter::torch_backend {
namespace {

class Aliases {
 public:
  void follow(const Node& node, const c10::FunctionSchema& schema) {
    std::vector<const tmeter_tensor*> looked_at;
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const auto* alias = schema.arguments()[i].alias_info();
      if (!alias) continue;
      for_each_tensor_value(argument_of(node, schema, i), [&](const Value& v) {
        const auto* tensor = of(v);
        if (!tensor) return;
        looked_at.push_back(tensor);
        if (alias->isWrite()) written.insert(tensor);
      });
    }
    if (looked_at.empty()) return;
    for (size_t i = 0; i < node.result_count(); ++i) {
      for_each_tensor_value(node.result(i),
                            [&](const Value& v) { seen_.emplace(v.handle(), looked_at.front()); });
    }
  }

  std::unordered_set<const tmeter_tensor*> written;

 private:
  /// The parameter, buffer or constant that a value is, or a view of.
  const tmeter_tensor* of(const Value& value) const {
    if (const auto tensor = value.tensor()) return tensor.canonical().handle();
    const auto it = seen_.find(value.handle());
    return it == seen_.end() ? nullptr : it->second;
  }

  std::unordered_map<const tmeter_value*, const tmeter_tensor*> seen_;
};

}  // namespace

std::unordered_set<const tmeter_tensor*> written_tensors(
    const Graph& graph, const std::vector<std::optional<c10::OperatorHandle>>& operators) {
  Aliases aliases;
  for (const auto& node : graph.nodes()) {
    if (const auto& op = operators[node.index()]) aliases.follow(node, op->schema());
  }
  return std::move(aliases.written);
}

}  // namespace tmeter::torch_backend
