// Operators on packed quantized weights (load/packed.hpp) and on quantized tensors, and their
// results' shapes. Quantized tensors have shapes and types here, no scales.
#pragma once
#include <utility>
#include <vector>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// Replaces the arguments by meta tensors of the results' shapes. False when no argument is a
/// packed weight, or the operator is none of those known.
bool execute_packed(const OperatorInfo& info, torch::jit::Stack& args);

/// LibTorch has hardly an operator for quantized tensors on the meta device. For the time of a call
/// they are the floats they stand for, and its results that are floats are quantized again.
class QuantizedArguments {
 public:
  explicit QuantizedArguments(torch::jit::Stack& args);
  void restore(const OperatorInfo& info, torch::jit::Stack& results) const;

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> replaced_;
};

}  // namespace tmeter::torch_backend
