// Bounds the recursion of LibTorch's parser, which has no limit of its own: it recurses into
// brackets, into blocks, and along chains of operators, and a forged program would overflow the
// stack.
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

/// False for a program that is nested more deeply than any that torch writes.
bool nested_sanely(std::string_view program);

/// The same for any text, by its brackets alone: it might be read as a type ("List[List[…").
bool brackets_sane(std::string_view text);

}  // namespace tmeter::torch_backend
