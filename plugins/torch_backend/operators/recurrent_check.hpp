// The hidden state of recurrent operators, checked before LibTorch does: at::native::lstm of torch
// 2.15 crashes when it meets a state of the wrong size on meta tensors, while it unwinds its own
// error.
#pragma once
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// Throws std::runtime_error when a state does not fit the input's batch; does nothing for other
/// operators.
void check_hidden_state(const OperatorInfo& op, const torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
