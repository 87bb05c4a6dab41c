// Intercepts the operators that a program calls, before LibTorch decomposes them.
//
// A dispatch mode does this: an otherwise unused key of LibTorch's dispatcher, active in one
// thread only. Operators called inside of operators are not seen.
#pragma once
#include "operators/libtorch_jit.hpp"

namespace tmeter::torch_backend {

class OperatorObserver {
 public:
  virtual ~OperatorObserver() = default;
  /// Called in place of the operator, with the mode off. The arguments are on top of the stack.
  virtual void on_operator(const c10::OperatorHandle& op, torch::jit::Stack& stack) = 0;
};

/// During its lifetime, this thread's operators go to the observer.
class OperatorMode {
 public:
  explicit OperatorMode(OperatorObserver& observer);
  ~OperatorMode();
  OperatorMode(const OperatorMode&) = delete;
  OperatorMode& operator=(const OperatorMode&) = delete;

 private:
  OperatorObserver* before_;
  c10::impl::IncludeDispatchKeyGuard mode_;
};

/// During its lifetime, LibTorch compiles a file's code in this thread. Constant folding and
/// default values would run parts of that code, which is refused except for comparisons of
/// constants.
class CompilationGuard final : private OperatorObserver {
 public:
  CompilationGuard() : mode_(*this) {}

 private:
  void on_operator(const c10::OperatorHandle& op, torch::jit::Stack& stack) override;

  OperatorMode mode_;
};

}  // namespace tmeter::torch_backend
