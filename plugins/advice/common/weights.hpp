// Bytes that an operator reads for a batch of any size.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/uses.hpp"

#pragma GCC visibility push(hidden)
namespace advice {

/// Bytes read of tensors that depend on no input: weights, and values computed from them. Look-ups
/// read as many rows as the batch asks for, so they count 0.
double fixed_bytes(const tmeter::Node& node, const plugins::DependsOnInputs& depends_on_inputs);

}  // namespace advice
#pragma GCC visibility pop
