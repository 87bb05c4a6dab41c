// Executes one operator of a model that has shapes but no weights.
//
// Every tensor is either real (on the CPU, with values) or meta (shape and type only). Inputs and
// weights are meta. Results computed only from sizes and constants are real, so loops and
// conditions over sizes, masks and positions run normally. A result that depends on a meta tensor
// is meta. A real tensor into which an unknown value is written becomes meta, with all its views.
// Devices named in the model are ignored: they belong to the machine where it was saved.
#pragma once
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// Thrown when a decision needs a value that only real weights and inputs could give.
class DataDependent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kernel's assumption, because the size or existence of its result depends on values.
enum class Assumption { kNone, kLargest, kOneValue, kNumberOne, kZeros };

/// State that the evaluator shares with the kernels it calls through LibTorch's dispatcher, per
/// thread.
struct EvaluationState {
  /// Set by kernels; the evaluator resets it before each operator.
  Assumption assumed = Assumption::kNone;
  /// Outside of a run, LibTorch's importer compares constants to pool equal ones; a guess serves
  /// it.
  bool model_is_running = false;
  /// The next value read out of a tensor decides the control flow
  /// (torchscript/run/decisions.cpp).
  bool next_value_is_condition = false;
  /// The program runs without values: a value that only sets a size is assumed to be 1.
  bool sizes_are_assumed = false;
};

inline EvaluationState& evaluation_state() {
  thread_local EvaluationState state;
  return state;
}

/// Thrown when an operator is not run because of its work or its possible effects. The
/// text follows the operator's name.
class WorkLimitExceeded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operators without an implementation in LibTorch: their library is not loaded.
class MissingOperators {
 public:
  virtual ~MissingOperators() = default;
  virtual bool contains(std::string_view op) const = 0;
  /// Replaces the arguments by meta tensors of the results' shapes. Throws when these are unknown.
  virtual void execute(const c10::OperatorHandle& op, const OperatorInfo& info,
                       torch::jit::Stack& args) = 0;
};

/// Supplies values for meta tensors.
class TensorValues {
 public:
  virtual ~TensorValues() = default;
  /// The tensor itself if it has values, else a tensor with the values that it represents.
  virtual at::Tensor of(const at::Tensor& tensor) = 0;
};

class Evaluator {
 public:
  /// Either may be null. With `values`, every operator runs on values.
  explicit Evaluator(MissingOperators* missing = nullptr, TensorValues* values = nullptr)
      : missing_(missing), values_(values) {}

  const OperatorInfo& info(const c10::OperatorHandle& op) { return lookup(op); }

  /// Replaces the operator's arguments on top of the stack by its results.
  void execute(const c10::OperatorHandle& op, torch::jit::Stack& stack);

  /// The assumption of the last operator, if the size of its result depends on values.
  Assumption assumed() const { return assumed_; }

 private:
  bool is_missing(const OperatorInfo& info) const;
  OperatorInfo& lookup(const c10::OperatorHandle& op);
  bool execute_real(const c10::OperatorHandle& op, OperatorInfo& info, torch::jit::Stack& args);
  bool fits(const c10::OperatorHandle& op, OperatorInfo& info, const torch::jit::Stack& args);
  void forget_changed(const OperatorInfo& info, const torch::jit::Stack& args);
  void execute_meta(const c10::OperatorHandle& op, OperatorInfo& info, torch::jit::Stack& args);
  void forget(const at::Tensor& tensor);
  void require_fit_for_values(const c10::OperatorHandle& op, const OperatorInfo& info,
                              const torch::jit::Stack& args);
  void execute_with_values(const c10::OperatorHandle& op, OperatorInfo& info,
                           torch::jit::Stack& args);

  MissingOperators* missing_;
  TensorValues* values_;
  std::unordered_map<c10::OperatorHandle, OperatorInfo> infos_;
  // Real tensors by storage: they become meta together. Holding them keeps addresses from being
  // reused.
  std::unordered_map<const c10::StorageImpl*, std::vector<at::Tensor>> real_;
  Assumption assumed_ = Assumption::kNone;
};

/// Runs an operator without a meta kernel on CPU tensors of ones and zeros to learn the shapes of
/// its results. False if it is too large or its result depends on values (cpu_fallback.cpp).
bool execute_on_placeholders(const c10::OperatorHandle& op, const OperatorInfo& info,
                             torch::jit::Stack& args);

/// True for Tensor[] and Tensor?[], even if the list was created with another element type.
inline bool holds_tensors(const c10::IValue& value) {
  if (!value.isList()) return false;
  auto type = value.toList().elementType();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::TensorType;
}

/// `value` with each tensor in it (alone or in a list) replaced by `f(tensor)`.
template <class F>
c10::IValue map_tensors(const c10::IValue& value, const F& f) {
  if (value.isTensor())
    return value.toTensor().defined() ? c10::IValue(f(value.toTensor())) : value;
  if (!holds_tensors(value)) return value;
  c10::impl::GenericList out(value.toList().elementType());
  for (const c10::IValue& item : value.toListRef()) out.push_back(map_tensors(item, f));
  return out;
}

/// Calls `f(tensor)` for each tensor in `value`.
template <class F>
void for_each_tensor(const c10::IValue& value, const F& f) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) f(value.toTensor());
  } else if (holds_tensors(value)) {
    for (const c10::IValue& item : value.toListRef()) for_each_tensor(item, f);
  }
}

}  // namespace tmeter::torch_backend
