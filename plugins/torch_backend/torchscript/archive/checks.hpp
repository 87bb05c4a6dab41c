// Checks of a file's parts before LibTorch reads them.
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

// Checks a pickle before LibTorch's unpickler sees it.
//
// LibTorch trusts its input: a forged memo index allocates gigabytes, an empty stack is popped, and
// unlimited nesting overflows the stack when the result is destroyed. This check walks the opcodes
// once and executes none. It verifies lengths, stack, marks, memo and nesting, and accepts only
// opcodes that torch.jit.save writes.

/// Throws TMETER_BAD_MODEL naming `record` and the offset. Only the first pickle in `data` is read.
void check_pickle(std::string_view data, std::string_view record);

// Checks a program's text before LibTorch parses it.
//
// The parser has no limits of its own: it recurses into brackets and blocks, along chains of
// operators and over empty lines, so a forged program could overflow the stack. While it parses, it
// also evaluates the default values of arguments and the constants of classes. torch writes
// literals there; everything else is refused.

/// Why the program must be refused ("is nested too deeply …"); empty if torch could have written
/// it.
std::string_view reason_to_refuse(std::string_view program);

/// Whether a string that LibTorch may parse as a type ("List[List[…", "a.b.c.…") is shallow enough.
bool is_shallow_type(std::string_view text);

}  // namespace tmeter::torch_backend
