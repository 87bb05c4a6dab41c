// Operators on packed quantized weights (load/packed.hpp), and their results' shapes.
#pragma once
#include "libtorch.hpp"
#include "run/operator_info.hpp"

namespace tmeter::torch_backend {

/// Replaces the arguments by meta tensors of the results' shapes. False when no argument is a
/// packed weight, or the operator is none of those known.
bool execute_packed(const OperatorInfo& info, torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
