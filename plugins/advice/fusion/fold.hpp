// The rounding error of folding a batch norm into the weights before it.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "rules.hpp"

#pragma GCC visibility push(hidden)
namespace fusion {

/// The vectors of a batch norm, one element per channel; `scale` and `shift` are γ and β.
struct Norm {
  std::vector<double> mean, variance, scale, shift;
  double epsilon = 0;
};

/// The error of folded weights against float64.
struct FoldError {
  double absolute = 0;     // the largest difference
  double largest = 0;      // the largest folded weight, by magnitude
  bool overflows = false;  // a finite weight becomes infinite or NaN
  double relative() const { return largest > 0 ? absolute / largest : 0; }
};

/// Folds weights of type `dtype` in float32, in the order of torch.nn.utils.fusion, rounds the
/// result to `dtype`, and compares with float64. `first`: the index of the first weight in
/// the tensor. Channel c owns the elements c · inner … (c + 1) · inner - 1 of each channels ·
/// inner.
void fold_weights(std::span<const double> weights, int64_t first, int64_t inner, int64_t channels,
                  const Norm& norm, tmeter::DType dtype, FoldError& error);
/// The same for the bias. An empty bias means zeros.
void fold_bias(std::span<const double> bias, const Norm& norm, tmeter::DType dtype,
               FoldError& error);

/// The error for the weights in the file. Empty if the file has no weights, or their type is not
/// float32, float16 or bfloat16.
std::optional<FoldError> fold_error(const Foldable& foldable, const tmeter::Call& call);

}  // namespace fusion
#pragma GCC visibility pop
