// Checks of an operator's arguments that LibTorch does not make itself.
#pragma once
#include <string_view>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// The argument of this name; null if it is missing.
const c10::IValue* argument_named(const OperatorInfo& info, const torch::jit::Stack& args,
                                  std::string_view name);

/// Throws if the hidden state of a recurrent operator does not fit the input's batch:
/// at::native::lstm of torch 2.15 crashes with meta tensors then, while it unwinds its own error.
void check_hidden_state(const OperatorInfo& info, const torch::jit::Stack& args);

/// Throws if an argument is not a value of its type, such as a number that is not a dtype.
void check_enums(const OperatorInfo& info, const torch::jit::Stack& args);

/// Whether all tensors are as the table of real operators requires: dense, neither quantized nor
/// nested.
bool plain_tensors(const torch::jit::Stack& args);

/// Throws if known `repeats` of repeat_interleave are negative or add up to more than 2^40.
void check_repeats(const OperatorInfo& info, const torch::jit::Stack& args);

/// How many tensors an operator such as split makes of its argument; 0 for any other.
uint64_t parts_of(const OperatorInfo& info, const torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
