// Guesses about inputs that neither the file nor the user names, from the model's weights and code.
#pragma once
#include <vector>

#include "libtorch.hpp"

namespace tmeter::torch_backend {

/// True when the value is used as indices of an embedding (through calls and reshapes), so that
/// token ids are expected and not floats.
bool used_as_indices(const torch::jit::Value* value);

/// The type of the model's floats: that of its first floating-point parameter.
at::ScalarType float_type_of(const torch::jit::Module& root);

/// Likely single inputs of a model, best first, as meta tensors; empty when there is no clue.
std::vector<at::Tensor> likely_inputs(const torch::jit::Module& root);

}  // namespace tmeter::torch_backend
