// Which values need a gradient: trainable parameters, and what is made from them by operators that
// have a derivative.
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_set>
#include <vector>

namespace training {

class Gradients {
 public:
  /// `frozen`: names of parameters that are not trained, patterns with * and ? separated by commas.
  /// A module's path stands for all in it. Throws Error(TMETER_BAD_USAGE) for a pattern that
  /// matches no parameter.
  Gradients(const tmeter::Graph& graph, std::string_view frozen);

  bool of(const tmeter::Value& value) const;
  /// Whether an argument, or any item of it where it is a list, needs one.
  bool of_any(const tmeter::Value& value) const;
  /// By index; false for buffers, constants, integers, and for parameters that are frozen.
  bool trainable(const tmeter::Tensor& tensor) const { return trainable_[tensor.index()]; }
  /// Whether the node has a backward.
  bool through(const tmeter::Node& node) const { return passes_[node.index()]; }

 private:
  void choose_parameters(const tmeter::Graph& graph, std::string_view frozen);
  bool flows_into(const tmeter::Node& node) const;
  void mark_results(const tmeter::Node& node, bool needs);
  void mark(const tmeter::Value& value, bool needs);

  std::vector<bool> trainable_, passes_;
  std::unordered_set<const tmeter_value*> made_;
};

/// "*.attn.*" against a whole name; * matches any text, dots too, ? one character.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace training
