// A few vectors side by side, and what block Lanczos does with them.
#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "coarse_kernels.hpp"

namespace param_stats {

using Small = Eigen::MatrixXd;

/// Vectors side by side. What is beyond the matrix's columns belongs to them, as if it had columns
/// of zeros there: they change no singular value.
class Vectors {
 public:
  /// Kernels add zeros up to a multiple of kCoarseStep.
  explicit Vectors(size_t length)
      : stride_((length + kBlockStep - 1) / kBlockStep * kBlockStep),
        numbers_(kBlockVectors * stride_ + kCoarseStep) {}

  size_t count() const { return count_; }
  void resize(size_t count) { count_ = count; }
  size_t stride() const { return stride_; }
  float* data() { return numbers_.data(); }
  const float* data() const { return numbers_.data(); }
  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.f); }
  auto matrix() {
    return Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>>(
        numbers_.data(), static_cast<Eigen::Index>(stride_), static_cast<Eigen::Index>(count_),
        Eigen::OuterStride<>(static_cast<Eigen::Index>(stride_)));
  }

 private:
  size_t stride_, count_ = 0;
  std::vector<float> numbers_;
};

/// kBlockVectors of them, the same on every machine.
void fill_at_random(Vectors& v);

/// a^T b
Small products(const Vectors& a, const Vectors& b);
/// w += q f
void add_mixed(Vectors& w, const Vectors& q, const Small& factors);
/// w = q b with orthonormal q, which is set; b is returned. Directions up to `floor` long are left
/// out: of matrices of a low rank nothing else is left.
Small orthonormalise(Vectors& w, double floor, Vectors& q);

}  // namespace param_stats
