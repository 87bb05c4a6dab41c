// Checks of a primitive's operands before it runs. Each throws if they are not safe.
#pragma once
#include <cstdint>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

using Operands = c10::ArrayRef<c10::IValue>;
using Check = void (*)(Operands operands);

/// No model makes longer texts and lists, and copying them takes time.
constexpr uint64_t kMaxText = 1 << 20;
constexpr uint64_t kMaxItems = 1'000'000;

void check_division(Operands operands);      // a // b, a % b: INT64_MIN and -1 trap, as does 0
void check_factorial(Operands operands);     // counts up to its operand
void check_text_sum(Operands operands);      // a + b
void check_join(Operands operands);          // separator.join(texts)
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

}  // namespace tmeter::torch_backend
