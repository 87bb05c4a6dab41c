// TorchScript's operators on numbers, texts, lists and dicts, which LibTorch runs unchecked:
// INT64_MIN // -1 is a signal, "x" * 2**40 takes all memory. They run when a model runs, and already
// while it is loaded: LibTorch folds constants and evaluates default values of arguments.
//
// Those that can trap, loop for long or grow are replaced in LibTorch's registry by ones that check
// their operands first; those that a file may not use (operators/review.hpp) refuse to run. Tensor
// operators go through LibTorch's dispatcher and are not meant here (run/interpreter.hpp).
#pragma once
#include "operators/libtorch.hpp"
#include "torchscript/review/review.hpp"

namespace tmeter::torch_backend {

/// Once per process, before anything of a file is compiled: programs keep the operators they were
/// compiled with.
void guard_primitives();

inline OperatorKind kind_of(const torch::jit::Operator& op) {
  return op.isC10Op() ? OperatorKind::kDispatched : OperatorKind::kPrimitive;
}

/// While it lives, in this thread, primitives that a file may not use run: the user trusts the file.
class TrustPrimitives {
 public:
  explicit TrustPrimitives(bool trusted);
  ~TrustPrimitives();
  TrustPrimitives(const TrustPrimitives&) = delete;
  TrustPrimitives& operator=(const TrustPrimitives&) = delete;

 private:
  bool before_;
};

}  // namespace tmeter::torch_backend
