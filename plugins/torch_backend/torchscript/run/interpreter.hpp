// Runs a model under LibTorch's own TorchScript interpreter and intercepts every operator.
// Everything happens in the calling thread, forked tasks included.
#pragma once
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "operators/evaluator.hpp"
#include "operators/libtorch_jit.hpp"
#include "operators/limits.hpp"
#include "operators/messages.hpp"
#include "torchscript/load/foreign_operators.hpp"
#include "torchscript/load/module_tree.hpp"
#include "torchscript/load/operator_mode.hpp"
#include "torchscript/run/call_stack.hpp"
#include "torchscript/run/recorder.hpp"

namespace tmeter::torch_backend {

class Run final : private OperatorObserver {
 public:
  /// `builder` and `recorder` null: a trial run, which records nothing.
  /// `values` null: a run on shapes; else a run with real weights.
  Run(const ModuleTree& tree, GraphBuilder* builder, Recorder* recorder, ForeignOperators& foreign,
      Limits& limits, TensorValues* values = nullptr)
      : limits_(limits),
        recorder_(recorder),
        foreign_(foreign),
        values_(values),
        calls_(tree, builder),
        evaluator_(&foreign, values) {}

  /// Calls forward. If it returns false, failure() has the reason.
  bool forward(const torch::jit::Module& root, std::vector<c10::IValue> inputs);

  const c10::IValue& result() const { return result_; }
  const Failure& failure() const { return failure_; }
  /// The first operator whose result has an assumed size, "aten::nonzero in rpn"; empty if none
  /// has.
  const std::string& assumed() const { return assumed_; }

  // LibTorch calls these when a function of the program begins and ends.
  void on_enter(const at::RecordFunction& function);
  void on_leave() { calls_.leave(); }

  /// Records that the program queried a property of its environment, so its path may differ
  /// elsewhere.
  void note_query(const std::string& what);
  /// The tensor with its values; throws in a run without.
  at::Tensor with_values(const at::Tensor& tensor);

 private:
  void on_operator(const c10::OperatorHandle& op, torch::jit::Stack& stack) override;
  void keep_stop();
  void follow_random_numbers(const c10::OperatorHandle& op, const OperatorInfo& info,
                             const torch::jit::Stack& args, c10::ArrayRef<c10::IValue> results);
  void fail(const OperatorInfo* op, torch::jit::Stack args, std::string reason);

  Limits& limits_;
  Recorder* recorder_;
  ForeignOperators& foreign_;
  TensorValues* values_;
  CallStack calls_;
  Evaluator evaluator_;
  c10::IValue result_;
  std::string assumed_;
  /// Storages that depend on random numbers. Weak references keep addresses from being reused.
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> random_;
  Failure failure_;
  bool failed_ = false;
};

/// Run::asked() of the run of this thread, if there is one.
void note_question(const std::string& what);

/// Makes loops and functions of the model's code report to the limits, so that code without
/// operators ends too. Call it once per model.
void watch_loops(const torch::jit::CompilationUnit& code);

// Finds the values read out of tensors that decide the control flow.
//
// x.item() of an unknown tensor has no value. If the value reaches only sizes or arithmetic, a
// substitute serves, and the report says so. If it reaches a condition or the count of a loop,
// guessing would invent a program. The analysis of the code distinguishes the cases before the run,
// and inserts an operator as a mark before each reading that decides.

/// Marks the readings that decide. Call it once per model, before its run. True if the program may
/// need values; a run without them may end early then.
bool mark_decisions(const torch::jit::CompilationUnit& code);

}  // namespace tmeter::torch_backend
