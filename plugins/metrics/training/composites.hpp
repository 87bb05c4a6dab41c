// Operators that torch composes of others before autograd sees them: `aten::batch_norm` of a file
// is differentiated as `aten::native_batch_norm`, whose statistics the operator in the file does
// not return.
#pragma once
#include <string_view>

#include "derivatives.hpp"

namespace training {

/// A tensor that a kernel makes for its backward beside the results of the operator in the file.
enum class Extra {
  kNone,
  kChannelStatistics,   // batch norm: mean and reciprocal deviation of each channel
  kInstanceStatistics,  // instance norm: the same of each channel of each sample, and the repeated
                        // weight and bias
  kRowStatistics,       // layer norm: mean and reciprocal deviation of each row
  kRowDeviation,        // RMS norm: the reciprocal root mean square of each row
  kGroupStatistics,     // group norm: mean and reciprocal deviation of each group of each sample
  kPoolIndices,         // max pooling: the place of each maximum, 8 bytes
  kWeightNorms,         // weight normalization: the norm of each slice of the weight
  kDropoutNoise,        // dropout: factors of the input's type on the CPU, a mask of bytes on CUDA
};

struct Composite {
  Derivative rule;  // `op` has no overload: the row holds for all
  Extra extra = Extra::kNone;
};

/// Null when torch does not compose the operator, or its parts need a rule of their own (attention,
/// products). `base` is a base name: "linear" for `aten::linear`.
const Composite* find_composite(std::string_view base);

}  // namespace training
