// What must hold of a program's text before LibTorch's parser sees it.
//
// The parser has no limits of its own: it recurses into brackets and blocks, along chains of
// operators and over empty lines, and a forged program would overflow the stack. And it runs part
// of the program: the default values of arguments and the constants of classes are evaluated while
// it is read. torch writes literals there; anything that computes is refused.
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

/// Empty for a program as torch writes it, else what is wrong with it: "is nested too deeply …".
std::string_view forged(std::string_view program);

/// For any text that might be read as a type ("List[List[…", "a.b.c.…"): whether it is shallow
/// enough.
bool type_sane(std::string_view text);

}  // namespace tmeter::torch_backend
