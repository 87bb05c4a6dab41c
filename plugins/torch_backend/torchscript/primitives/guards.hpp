// Guards TorchScript's operators on numbers, strings, lists and dicts, which LibTorch runs
// unchecked: INT64_MIN // -1 raises a signal, "x" * 2**40 takes all memory. They run with the
// model, and also while it is loaded, because LibTorch folds constants and evaluates default values
// of arguments.
//
// Operators that can trap, loop for a long time or produce huge results are replaced in LibTorch's
// registry by ones that check their operands first. Operators that a file may not use
// (torchscript/review/review.hpp) refuse to run. Tensor operators go through LibTorch's dispatcher
// instead (torchscript/load/operator_mode.hpp).
#pragma once
#include <cstdint>

#include "operators/libtorch_jit.hpp"
#include "torchscript/review/review.hpp"

namespace tmeter::torch_backend {

// Checks of a primitive's operands before it runs. Each throws if they are not safe.

using Operands = c10::ArrayRef<c10::IValue>;
using Check = void (*)(Operands operands);

/// Models do not need longer strings or lists, and copying those would take time.
constexpr uint64_t kMaxText = 1 << 20;
constexpr uint64_t kMaxItems = 1'000'000;

void check_division(Operands operands);      // a // b, a % b: INT64_MIN and -1 trap, as does 0
void check_factorial(Operands operands);     // counts up to its operand
void check_text_sum(Operands operands);      // a + b
void check_join(Operands operands);          // separator.join(strings)
void check_replace(Operands operands);       // text.replace(old, new)
void check_needle(Operands operands);        // text.count(needle), text.split(separator): not empty
void check_width(Operands operands);         // text.ljust(width)
void check_tabs(Operands operands);          // text.expandtabs(size)
void check_printed(Operands operands);       // str(value), "{}".format(values …)
void check_list_sum(Operands operands);      // a + b, a.extend(b)
void check_list_product(Operands operands);  // list * n, n * list
void check_one_more(Operands operands);      // list.append(item)
void check_range(Operands operands);         // list(range(n))
void check_tensor_of(Operands operands);     // torch.tensor(list)

/// Installs the guards, once per process. Must precede the compilation of a file, because a program
/// keeps the operators that it was compiled with.
void guard_primitives();

inline OperatorKind kind_of(const torch::jit::Operator& op) {
  return op.isC10Op() ? OperatorKind::kDispatched : OperatorKind::kPrimitive;
}

/// During its lifetime, this thread may run primitives that a file may not use, if the user trusts
/// the file.
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
