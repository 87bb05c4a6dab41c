// Which operators use a value: two operators may be fused only if no other operator uses the value
// between them.
//
//   const plugins::Uses uses(graph);
//   if (const auto next = uses.sole_use(conv.result(0), plugins::SkippedOps::kIdentity))
//     … next.node takes it as next.value, and no other operator does …
#pragma once
#include <algorithm>
#include <array>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

/// Whether a name is in a list.
template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The operators that are skipped between a value and the operator that uses its elements.
enum class SkippedOps {
  kIdentity,  // dropout in eval mode, alias, conversions to the same type
  kReshape,   // also views that keep the order of the elements
  kView       // also views that change it
};

/// An operator whose result is its first tensor, unchanged.
bool is_identity(const tmeter::Node& node);
/// An operator of `skipped`: an identity, or such a view with one result.
bool is_skipped(const tmeter::Node& node, SkippedOps skipped);

/// The value that operators of `skipped` passed on.
tmeter::Value origin(tmeter::Value value, SkippedOps skipped);

/// Elements and bytes of a tensor. Hostile files have sizes beyond any memory, for which
/// Value::bytes throws: therefore real numbers. A size below 0 counts as 0.
double element_count(const tmeter::Shape& shape);
double bytes_of(const tmeter::Value& value);
double bytes_of(const tmeter::Tensor& tensor);

/// All tensor values in an argument or result, also those in lists.
template <class F>
void for_each_tensor(const tmeter::Value& value, const F& f) {
  if (value.is_tensor()) return f(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_tensor(value[i], f);
}
template <class F>
void for_each_input(const tmeter::Node& node, const F& f) {
  for (size_t i = 0; i < node.arg_count(); ++i) for_each_tensor(node.arg(i), f);
}

/// Which operators and values depend on an input of the model. All others are the same in every
/// run.
class DependsOnInputs {
 public:
  explicit DependsOnInputs(const tmeter::Graph& graph);
  bool operator()(const tmeter::Node& node) const { return depends_[node.index()]; }
  bool operator()(const tmeter::Value& value) const;

 private:
  std::unordered_set<const tmeter_value*> inputs_;
  std::vector<bool> depends_;  // index: node
};

struct Use {
  tmeter::Node node;    // the user, if there is exactly one
  tmeter::Value value;  // its operand: the requested value or a view of it
  explicit operator bool() const { return static_cast<bool>(node); }
};

class Uses {
 public:
  explicit Uses(const tmeter::Graph& graph);

  /// The only node that uses the value, in one or several arguments. None if several nodes use it,
  /// none does, or the model returns it.
  Use sole_use(tmeter::Value value, SkippedOps skipped) const;
  /// The nodes that use it, identities skipped, in graph order. Empty if the model returns it.
  std::vector<tmeter::Node> all(const tmeter::Value& value) const;
  /// How many nodes use a parameter or buffer, under any of its names.
  size_t of(const tmeter::Tensor& tensor) const;

 private:
  struct Users {
    std::vector<tmeter::Node> nodes;
    bool returned = false;
  };
  void add(const tmeter::Value& value, const tmeter::Node& node);
  const Users* users(const tmeter::Value& value) const;
  bool collect(const tmeter::Value& value, int steps, std::vector<tmeter::Node>& into) const;

  std::unordered_map<const tmeter_value*, Users> users_;
  std::unordered_map<const tmeter_tensor*, std::vector<size_t>> of_tensor_;  // node indices
};

}  // namespace plugins
#pragma GCC visibility pop
