// What a model wants of an input that neither the file nor the user describes: found by following
// the argument through the program to the first operators that say something of it.
#pragma once
#include <optional>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// What the first operator with a weight that a value reaches wants of it.
struct Clue {
  enum class Kind { kNone, kChannels, kFeatures, kSequence, kIndices };
  Kind kind = Kind::kNone;
  int64_t size = 0;          // channels or features
  int64_t spatial = 0;       // kChannels: 1, 2 or 3 dims behind them
  bool batch_first = false;  // kSequence: [batch, time, features] and not [time, batch, features]
  at::ScalarType dtype = at::kFloat;
};

/// The clue for the argument `i` of forward (0: the first one behind self).
Clue clue_for_argument(const torch::jit::Module& root, size_t i);

/// From the model's first weights, when following an argument leads nowhere.
Clue clue_from_weights(const torch::jit::Module& root);

/// The type of the model's floats: that of its first floating-point parameter.
at::ScalarType float_type_of(const torch::jit::Module& root);

/// Sizes the modules name themselves (image_size = 384), in the order they are found.
std::vector<int64_t> named_image_sizes(const torch::jit::Module& root);

}  // namespace tmeter::torch_backend
