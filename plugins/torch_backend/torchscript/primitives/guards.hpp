// Guards TorchScript's operators on numbers, texts, lists and dicts, which LibTorch runs unchecked:
// INT64_MIN // -1 raises a signal, "x" * 2**40 takes all memory. They run with the model, and
// already while it is loaded, because LibTorch folds constants and evaluates default values of
// arguments.
//
// Operators that can trap, loop for long or grow are replaced in LibTorch's registry by ones that
// check their operands first. Operators that a file may not use (torchscript/review/review.hpp)
// refuse to run. Tensor operators go through LibTorch's dispatcher instead
// (torchscript/load/operator_mode.hpp).
#pragma once
#include "operators/libtorch.hpp"
#include "torchscript/review/review.hpp"

namespace tmeter::torch_backend {

/// Installs the guards, once per process. Must precede the compilation of a file, as a program
/// keeps the operators that it was compiled with.
void guard_primitives();

inline OperatorKind kind_of(const torch::jit::Operator& op) {
  return op.isC10Op() ? OperatorKind::kDispatched : OperatorKind::kPrimitive;
}

/// While it lives, primitives that a file may not use run in this thread if the user trusts the
/// file.
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
