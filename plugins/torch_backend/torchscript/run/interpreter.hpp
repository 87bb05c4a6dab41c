// Runs a model under LibTorch's own TorchScript interpreter and sees every operator.
//
// A dispatch mode (a key of LibTorch that nothing else uses, active in this thread only) catches
// each operator that the program calls, before it is taken apart; operators called inside operators
// are not seen. Everything happens in the calling thread, forked tasks included.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "operators/libtorch.hpp"
#include "torchscript/load/module_tree.hpp"
#include "torchscript/run/call_stack.hpp"
#include "operators/evaluator.hpp"
#include "torchscript/run/foreign.hpp"
#include "operators/limits.hpp"
#include "torchscript/run/recorder.hpp"

namespace tmeter::torch_backend {

/// What went wrong first, and where. The interpreter turns exceptions into text, so it is kept
/// here.
struct Failure {
  std::string module;  // path; empty in the root or when unknown
  std::string op;      // "aten::conv2d"; empty when no operator was running
  torch::jit::Stack args;
  std::vector<std::string> arg_names;
  std::string reason;
  bool data_dependent = false;
  std::exception_ptr
      own;  // an error of tmeter's (limits, the graph builder): to be passed on as it is
};

class Run {
 public:
  /// `recorder` and `builder` null: a trial, nothing is recorded.
  /// `real`: values for a run with real weights.
  Run(const ModuleTree& tree, GraphBuilder* builder, Recorder* recorder, ForeignOperators& foreign,
      Limits& limits, RealValues* real = nullptr)
      : limits_(limits),
        recorder_(recorder),
        foreign_(foreign),
        calls_(tree, builder),
        evaluator_(&foreign, real) {}

  /// Calls forward. False: see failure().
  bool forward(const torch::jit::Module& root, std::vector<c10::IValue> inputs);

  const c10::IValue& result() const { return result_; }
  const Failure& failure() const { return failure_; }
  /// "aten::nonzero in rpn": the first operator whose result's size was assumed; empty when none was.
  const std::string& assumed() const { return assumed_; }

  // Called back by LibTorch, through the run of this thread.
  void on_operator(const c10::OperatorHandle& op, torch::jit::Stack& stack);
  void on_enter(const at::RecordFunction& function);
  void on_leave() { calls_.leave(); }

 private:
  void keep_stop();
  void fail(const OperatorInfo* op, torch::jit::Stack args, std::string reason);

  Limits& limits_;
  Recorder* recorder_;
  ForeignOperators& foreign_;
  CallStack calls_;
  Evaluator evaluator_;
  c10::IValue result_;
  std::string assumed_;
  Failure failure_;
  bool failed_ = false;
};

/// Once per process and model: makes loops and functions of the model's code report to the limits,
/// so that what runs without operators ends, too.
void watch_loops(const torch::jit::CompilationUnit& code);

/// While it lives, in this thread, LibTorch compiles a file's code: what that would run of it
/// (constant folding, default values) is refused, but for what only compares.
class Compiling {
 public:
  Compiling();
  ~Compiling();
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

 private:
  bool before_;
  c10::impl::IncludeDispatchKeyGuard mode_;
};

}  // namespace tmeter::torch_backend
