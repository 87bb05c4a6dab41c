// What folding a batch norm into the weights before it does to the numbers.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "rules.hpp"

#pragma GCC visibility push(hidden)
namespace fusion {

/// The numbers of a batch norm, one for each channel; `scale` and `shift` are γ and β.
struct Norm {
  std::vector<double> mean, variance, scale, shift;
  double epsilon = 0;
};

/// How far folded numbers are from what float64 gives.
struct FoldError {
  double absolute = 0;     // the largest difference
  double largest = 0;      // the largest folded number, by magnitude
  bool overflows = false;  // of finite weights; of their type, or in the batch norm
  double relative() const { return largest > 0 ? absolute / largest : 0; }
};

/// Folds numbers of the type `dtype` in float32, in the order of torch.nn.utils.fusion, rounds the
/// result to `dtype`, and compares with float64. `first`: the index of the first within the
/// tensor; channel i has the elements i · inner … of every `channels` · inner.
void fold_weights(std::span<const double> weights, int64_t first, int64_t inner, int64_t channels,
                  const Norm& norm, tmeter::DType dtype, FoldError& error);
/// The same of the bias; empty: there was none.
void fold_bias(std::span<const double> bias, const Norm& norm, tmeter::DType dtype,
               FoldError& error);

/// Of the weights in the file. Empty when they are not in it, or are of another type than float32,
/// float16 and bfloat16.
std::optional<FoldError> fold_error(const Foldable& foldable, const tmeter::Call& call);

}  // namespace fusion
#pragma GCC visibility pop
