// Helpers for values and nodes of the host's graph.
#pragma once
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <vector>

#include "operators/libtorch.hpp"

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

// Converts values of the graph to LibTorch values of the types in an operator's schema.

/// Tensors and numbers computed so far, by value of the graph.
class Environment {
 public:
  void set(const Value& value, c10::IValue now) { values_[value.handle()] = std::move(now); }
  /// Null if the value was not computed.
  const c10::IValue* find(const Value& value) const {
    const auto it = values_.find(value.handle());
    return it != values_.end() ? &it->second : nullptr;
  }
  /// The tensor computed for the value; else a meta tensor of its shape (parameters, buffers,
  /// constants).
  at::Tensor tensor(const Value& value);

 private:
  std::unordered_map<const tmeter_value*, c10::IValue> values_;
};

/// The value as an argument of this type. Throws std::runtime_error if it has no such form.
c10::IValue to_ivalue(const Value& value, const c10::TypePtr& type, Environment& environment);

/// The type of the argument. LibTorch uses "int" for dtypes, layouts and memory formats; their real
/// type is returned.
c10::TypePtr type_of_argument(const c10::Argument& argument);

/// Like to_ivalue, but a single number for an int[2] becomes a list of `length` numbers.
c10::IValue to_argument(const Value& value, const c10::TypePtr& type, int32_t length,
                        Environment& environment);

/// All arguments of a call, defaults included. Throws std::runtime_error if one is missing.
torch::jit::Stack arguments_of(const Node& node, const c10::FunctionSchema& schema,
                               Environment& environment);

/// The node's argument for the i-th of the schema: by name, or by position if the file has no
/// names.
Value argument_of(const Node& node, const c10::FunctionSchema& schema, size_t i);

/// The value of a number, whether computed or written in the program.
c10::IValue number(const Value& value, const Environment& environment);

}  // namespace tmeter::torch_backend
