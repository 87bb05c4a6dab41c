// TorchScript's operators on numbers, texts, lists and dicts, which LibTorch runs unchecked:
// INT64_MIN
// // -1 is a signal, "x" * 2**40 takes all memory. They run when a model runs, and already while it
// is loaded: LibTorch folds constants and evaluates default values of arguments.
//
// Each was looked at. Those that can trap, loop for long or grow are replaced in LibTorch's
// registry by ones that check their operands first; those that nobody looked at refuse to run.
// Tensor operators go through LibTorch's dispatcher and are not meant here (run/interpreter.hpp).
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

/// Once per process, before anything of a file is compiled: programs keep the operators they were
/// compiled with.
void guard_primitives();

/// "aten::floordiv" is guarded or harmless, "aten::save" is neither.
bool reviewed_primitive(std::string_view op);

/// While it lives, in this thread, primitives that were not reviewed run: the user trusts the file.
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
