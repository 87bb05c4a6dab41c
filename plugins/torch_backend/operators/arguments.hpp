// Values of the graph as LibTorch wants them: by the types in the operator's schema.
#pragma once
#include <unordered_map>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// The tensors and computed numbers of one replay, by value of the graph.
class Environment {
 public:
  void set(const Value& value, c10::IValue now) { values_[value.handle()] = std::move(now); }
  /// Null when nothing was computed for it.
  const c10::IValue* find(const Value& value) const {
    const auto it = values_.find(value.handle());
    return it != values_.end() ? &it->second : nullptr;
  }
  /// The tensor computed for the value, or a parameter, buffer or constant by its shape.
  at::Tensor tensor(const Value& value);

 private:
  std::unordered_map<const tmeter_value*, c10::IValue> values_;
};

/// A value as an argument of this type. Throws std::runtime_error when it cannot be one.
c10::IValue to_ivalue(const Value& value, const c10::TypePtr& type, Environment& environment);

/// LibTorch says "int" of types that are numbers inside; the real type tells them apart.
c10::TypePtr type_of_argument(const c10::Argument& argument);

/// The same, lists of a length included: `length` numbers where one is given for an int[2].
c10::IValue to_argument(const Value& value, const c10::TypePtr& type, int32_t length,
                        Environment& environment);

/// All arguments of a call, defaults included. Throws when one is missing.
torch::jit::Stack arguments_of(const Node& node, const c10::FunctionSchema& schema,
                               Environment& environment);

/// The node's argument for the i-th one of the schema: by name, or by place where the file has no
/// names.
Value argument_of(const Node& node, const c10::FunctionSchema& schema, size_t i);

/// The value of a number, computed or not.
c10::IValue number(const Value& value, const Environment& environment);

}  // namespace tmeter::torch_backend
