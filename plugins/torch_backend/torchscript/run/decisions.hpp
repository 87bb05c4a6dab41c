// Which values read out of tensors decide where the program goes.
//
// x.item() of an unknown tensor has no answer. Where its value only ends up in sizes or arithmetic,
// a stand-in serves, and the report says so; where it reaches a condition or the count of a loop,
// guessing would invent a program. The difference is found in the code before it runs, and marked
// there: in front of each reading that decides stands an operator that says so.
#pragma once
#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// Once per process and model, before it runs. True when the program may ask for values: then a run
/// without them may end early.
bool mark_decisions(const torch::jit::CompilationUnit& code);

}  // namespace tmeter::torch_backend
