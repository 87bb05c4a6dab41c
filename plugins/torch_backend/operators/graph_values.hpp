// What is known of the values of a graph, beside what the graph itself says.
#pragma once
#include <unordered_map>

#include "operators/libtorch.hpp"
#include "sizes.hpp"

namespace tmeter::torch_backend {

/// Numbers in the place of those that the program has for an argument.
struct Literal {
  std::string_view argument;
  Sizes sizes;
};

struct Known {
  std::unordered_map<const tmeter_value*, Sizes> dims;           // of tensors
  std::unordered_map<const tmeter_value*, c10::IValue> numbers;  // computed sizes and conditions
  std::unordered_map<size_t, std::vector<Literal>> literals;     // by node: what was replaced
  std::unordered_map<size_t, Sizes> pads;  // by node: of its first operand, as constant_pad_nd
};

inline Sizes sizes_of(Shape shape) { return {shape.begin(), shape.end()}; }

/// The dims of a tensor in `known`, else those of the graph.
inline Sizes dims_in(const Known& known, const Value& value) {
  const auto it = known.dims.find(value.handle());
  return it != known.dims.end() ? it->second : sizes_of(value.shape());
}

/// Calls `f(tensor)` for each tensor of an argument or result, alone or in lists.
template <class F>
void for_each_tensor_value(const Value& value, const F& f) {
  if (value.is_tensor()) f(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_tensor_value(value[i], f);
}

/// A module of torch.nn keeps the numbers it was made with: nothing there follows from sizes.
inline bool is_of_torch_nn(const Node& node) {
  return node.call().module().qualified_type().starts_with("torch.nn.modules.");
}

/// "aten::view" for "aten::view.dtype" too; with the overload where it has one.
inline std::string full_name(const Node& node) {
  const std::string op(node.op());
  return node.overload().empty() ? op : op + "." + std::string(node.overload());
}

}  // namespace tmeter::torch_backend
