// Finds the values read out of tensors that decide the control flow.
//
// x.item() of an unknown tensor has no value. If the value reaches only sizes or arithmetic, a
// substitute serves, and the report says so. If it reaches a condition or the count of a loop,
// guessing would invent a program. The analysis of the code tells the cases apart before the run,
// and inserts an operator as a mark before each reading that decides.
#pragma once
#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// Marks the readings that decide. Call it once per model, before its run. True if the program may
/// need values; a run without them may end early then.
bool mark_decisions(const torch::jit::CompilationUnit& code);

}  // namespace tmeter::torch_backend
