// The arguments of an operator that have a gradient, and the tensors that autograd keeps to compute
// it.
//
// The rows are torch's derivatives.yaml (derivatives_data.inc, written by generate_derivatives.py).
// Operators that torch composes of others, such as `aten::linear` of `aten::addmm`, have rows of
// our own
// (`find_composite`), which come first.
#pragma once
#include <string_view>

namespace training {

struct Derivative {
  std::string_view op;      // "mul.Tensor", without namespace
  std::string_view inputs;  // arguments with a gradient, separated by spaces
  /// Items separated by spaces: an argument, or "#1", the second result; then "<" and a list of
  /// arguments, separated by commas. An item is kept if one argument of its list needs a gradient,
  /// and always with an empty list. Without "<" the argument itself is the list.
  std::string_view kept;
};

/// Null when torch has no formula: it is composed of other operators, has no gradient, or is
/// unknown. `op` is "aten::mul", `overload` "Tensor"; an in-place operator without a row of its own
/// has that of its base.
const Derivative* find_derivative(std::string_view op, std::string_view overload);

/// Calls `f(word)` for each word; words are separated by single spaces.
template <class F>
void for_each_word(std::string_view words, const F& f, char separator = ' ') {
  while (!words.empty()) {
    const auto end = words.find(separator);
    f(words.substr(0, end));
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
}

inline bool has_word(std::string_view words, std::string_view searched, char separator = ' ') {
  bool found = false;
  for_each_word(
      words, [&](std::string_view word) { found = found || word == searched; }, separator);
  return found;
}

// Operators that torch composes of others before autograd sees them: `aten::batch_norm` of a file
// is differentiated as `aten::native_batch_norm`, whose statistics the operator in the file does
// not return.

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
  Derivative rule;  // `op` has no overload: the row is valid for all
  Extra extra = Extra::kNone;
};

/// Null when torch does not compose the operator, or its parts need a rule of their own (attention,
/// products). `base` is a base name: "linear" for `aten::linear`.
const Composite* find_composite(std::string_view base);

}  // namespace training
