// Checks a pickle before LibTorch's unpickler sees it.
//
// LibTorch trusts its input: a forged memo index allocates gigabytes, an empty stack is popped, and
// unlimited nesting overflows the stack when the result is destroyed. This check walks the opcodes
// once and executes none. It verifies lengths, stack, marks, memo and nesting, and accepts only
// opcodes that torch.jit.save writes.
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

/// Throws TMETER_BAD_MODEL naming `record` and the offset. Only the first pickle in `data` is read.
void check_pickle(std::string_view data, std::string_view record);

}  // namespace tmeter::torch_backend
