// Checks a program's text before LibTorch parses it.
//
// The parser has no limits of its own: it recurses into brackets and blocks, along chains of
// operators and over empty lines, so a forged program could overflow the stack. It also evaluates
// the default values of arguments and the constants of classes while it parses. torch writes
// literals there; everything else is refused.
#pragma once
#include <string_view>

namespace tmeter::torch_backend {

/// Empty for a program as torch writes it, else the reason for its refusal: "is nested too deeply
/// …".
std::string_view forged(std::string_view program);

/// Whether a text that LibTorch may parse as a type ("List[List[…", "a.b.c.…") is shallow enough.
bool type_sane(std::string_view text);

}  // namespace tmeter::torch_backend
