// Helpers for values and nodes of the host's graph.
#pragma once
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace tmeter::torch_backend {

using Sizes = std::vector<int64_t>;

inline Sizes sizes_of(Shape shape) { return {shape.begin(), shape.end()}; }

/// Calls `f(tensor)` for each tensor of an argument or result, alone or in lists.
template <class F>
void for_each_tensor_value(const Value& value, const F& f) {
  if (value.is_tensor()) f(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_tensor_value(value[i], f);
}

/// The operator with its overload, if it has one: "aten::view.dtype", "aten::relu".
inline std::string full_name(const Node& node) {
  const std::string op(node.op());
  return node.overload().empty() ? op : op + "." + std::string(node.overload());
}

}  // namespace tmeter::torch_backend
