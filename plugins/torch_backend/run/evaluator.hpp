// Executes one operator of a model that has shapes but no weights.
//
// Every tensor is either real (on the CPU, with values) or meta (shape and type only). Inputs and
// weights are meta. What is computed from sizes and constants alone stays real, so that loops and
// conditions over sizes, masks and positions run as they would; anything that touches a meta tensor
// becomes meta. A real tensor that is changed by an unknown value becomes meta itself, with all its
// views. Devices named in the model are ignored: they say where it used to run.
#pragma once
#include <unordered_map>
#include <vector>

#include "libtorch.hpp"
#include "run/operator_info.hpp"

namespace tmeter::torch_backend {

/// Thrown when a decision needs a value that only real weights and inputs could give.
class DataDependent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Evaluator {
 public:
  const OperatorInfo& info(const c10::OperatorHandle& op) { return lookup(op); }

  /// Replaces the operator's arguments on top of the stack by its results.
  void execute(const c10::OperatorHandle& op, torch::jit::Stack& stack);

  /// True when the last operator's result is an upper bound: its size depends on values.
  bool upper_bound() const { return upper_bound_; }

 private:
  OperatorInfo& lookup(const c10::OperatorHandle& op);
  bool execute_real(const c10::OperatorHandle& op, OperatorInfo& info, torch::jit::Stack& args);
  bool fits(const c10::OperatorHandle& op, OperatorInfo& info, const torch::jit::Stack& args);
  void execute_meta(const c10::OperatorHandle& op, OperatorInfo& info, torch::jit::Stack& args);
  void forget(const at::Tensor& tensor);

  std::unordered_map<c10::OperatorHandle, OperatorInfo> infos_;
  // Real tensors by storage: they become meta together. Kept, so that addresses are not reused.
  std::unordered_map<const c10::StorageImpl*, std::vector<at::Tensor>> real_;
  bool upper_bound_ = false;
};

/// Runs an operator that has no meta kernel on CPU tensors of ones and zeros to learn the shapes of
/// its results. False when it is too large, or its result depends on values.
bool execute_on_placeholders(const c10::OperatorHandle& op, const OperatorInfo& info,
                             torch::jit::Stack& args);

/// `value` with each tensor in it (alone or in a list) replaced by `f(tensor)`.
template <class F>
c10::IValue map_tensors(const c10::IValue& value, const F& f) {
  if (value.isTensor())
    return value.toTensor().defined() ? c10::IValue(f(value.toTensor())) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> out;
    for (const at::Tensor& t : value.toTensorList()) out.push_back(t.defined() ? f(t) : t);
    return out;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> out;
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorList()) {
      out.push_back(t && t->defined() ? std::optional<at::Tensor>(f(*t)) : t);
    }
    return out;
  }
  return value;
}

/// Calls `f(tensor)` for each tensor in `value`.
template <class F>
void for_each_tensor(const c10::IValue& value, const F& f) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) f(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorList()) {
      if (t.defined()) f(t);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorList()) {
      if (t && t->defined()) f(*t);
    }
  }
}

}  // namespace tmeter::torch_backend
