// Finds the values that need a gradient: trainable parameters, and results that differentiable
// operators make from them.
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/backward_rule.hpp>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapters.hpp"
#include "derivatives.hpp"

namespace training {

class Gradients {
 public:
  /// By `training.frozen` and `training.lora`: with adapters every parameter of the model is
  /// frozen. Calls the rules of in-house operators. Throws Error(TMETER_BAD_USAGE) for a pattern
  /// that matches no parameter.
  Gradients(const tmeter::Graph& graph, const tmeter::Call& call);

  const Adapters& adapters() const { return adapters_; }
  /// The rule of an in-house operator; null for others, and without a rule.
  const tmeter_backward* rule_of(const tmeter::Node& node) const {
    const auto found = rules_.find(node.index());
    return found == rules_.end() ? nullptr : &found->second;
  }
  bool of(const tmeter::Value& value) const;
  /// Whether an argument, or any item of a list, needs a gradient.
  bool of_any(const tmeter::Value& value) const;
  /// By index; false for buffers, constants, integers, and for parameters that are frozen.
  bool trainable(const tmeter::Tensor& tensor) const { return trainable_[tensor.index()]; }
  /// Calls `f(value, argument_name)` for each tensor, also in a list, that has a derivative here
  /// and needs a gradient.
  template <class F>
  void for_each_gradient(const tmeter::Node& node, const F& f) const {
    const auto* row = derivative_of(node);
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto name = node.arg_name(i);
      if (!is_differentiable(row, name)) continue;
      const auto value = node.arg(i);
      if (value.is_tensor() && of(value)) f(value, name);
      for (size_t k = 0; k < value.size(); ++k)
        if (value[k].is_tensor() && of(value[k])) f(value[k], name);
    }
  }
  /// Whether autograd records the node.
  bool through(const tmeter::Node& node) const { return passes_[node.index()]; }
  /// Whether its backward runs: it is recorded, and an output of the model comes from it.
  bool reached(const tmeter::Node& node) const { return reached_[node.index()]; }

 private:
  void choose_parameters(const tmeter::Graph& graph, std::string_view frozen);
  bool flows_into(const tmeter::Node& node) const;
  static const Derivative* derivative_of(const tmeter::Node& node);
  static bool is_differentiable(const Derivative* row, std::string_view argument) {
    return !row || has_word(row->inputs, argument) || argument.empty();
  }
  void call_rule(const tmeter::Node& node, const tmeter::Call& call);
  void mark_results(const tmeter::Node& node, bool needs);
  /// The results are views of an argument.
  void follow(const tmeter::Node& node, const tmeter::Value& base);
  void mark(const tmeter::Value& value, bool needs);

  const tmeter_value* root_of(const tmeter::Value& value) const;

  void find_nodes_reached_by_backward(const tmeter::Graph& graph);

  Adapters adapters_;
  std::unordered_map<size_t, tmeter_backward> rules_;  // by node
  std::vector<bool> trainable_, passes_, reached_;
  std::unordered_set<const tmeter_value*> made_;
  std::unordered_map<const tmeter_value*, const tmeter_value*> roots_;  // bases of views
  /// Roots of views that an operator has written into.
  std::unordered_set<const tmeter_value*> written_;
};

/// "*.attn.*" against a whole name; * matches any text, dots too, ? one character.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace training
