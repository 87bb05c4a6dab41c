// Shape rules of plugins, for nodes whose operators LibTorch lacks.
#pragma once
#include <map>
#include <set>

#include "operators/arguments.hpp"
#include "operators/missing_operators.hpp"
#include "replayed_sizes.hpp"

namespace tmeter::resize {

class Rules {
 public:
  explicit Rules(const Call& call) : call_(call) {}

  /// The rule for the node's operator; null if no plugin has one. Throws Error if the rule's
  /// results for the recorded call differ from the recorded ones, because it then belongs to
  /// another operator.
  const Rule* find(const Node& node);

  /// The arguments of types SymInt and SymInt[] in the schema of the node's rule. Empty for
  /// operators of LibTorch.
  std::vector<std::string_view> size_arguments(const Node& node);

  /// The results of the node for these arguments. Throws ShapeRefused if the rule refuses them, and
  /// Error if element types or ranks differ from the recorded ones.
  std::vector<c10::IValue> results(const Node& node, const Rule& rule,
                                   const torch::jit::Stack& args) const;

 private:
  std::vector<c10::IValue> given_by(const Node& node, const Rule& rule,
                                    const torch::jit::Stack& args) const;
  void require_recorded(const Node& node, const Rule& rule) const;

  const Call& call_;
  std::map<std::string, std::optional<Rule>, std::less<>> rules_;  // by operator, with its overload
  std::set<size_t> checked_;                                       // nodes
};

/// Whether LibTorch has the node's operator.
bool is_of_libtorch(const Node& node);

}  // namespace tmeter::resize
