// Nodes whose operator LibTorch lacks, by the shape rules of plugins.
#pragma once
#include <map>
#include <set>

#include "known.hpp"
#include "operators/arguments.hpp"
#include "operators/shape_rules.hpp"

namespace tmeter::resize {

class Rules {
 public:
  explicit Rules(const Call& call) : call_(call) {}

  /// Null when no plugin has a rule for the node's operator. What the rule gives for the call as it
  /// stands in the file must be what the file has: else the rule is of another operator, and Error
  /// is thrown.
  const Rule* find(const Node& node);

  /// The arguments that the schema of the node's rule says are sizes, `SymInt` and its lists; none for
  /// an operator of LibTorch.
  std::vector<std::string_view> size_arguments(const Node& node);

  /// The results of the node for other arguments, of the element types and ranks that the file
  /// records. Throws ShapeRefused when the rule does not take them.
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
