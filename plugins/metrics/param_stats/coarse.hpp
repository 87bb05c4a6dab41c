// A matrix of which a byte a number is left, for many products that need not be exact.
//
// Each row has a scale of its own. Numbers are rounded at random, up or down as near as they are to
// either: what that adds to the matrix is then as good as independent of it, and of a known size,
// whatever pattern the numbers have. Vectors are bytes, too, rounded to the nearest. All sums of
// products are exact, so that the same figures come out on every machine that has the instructions.
#pragma once
#include <array>
#include <memory>

#include "block_product.hpp"

namespace param_stats {

class Coarse {
 public:
  /// None: this machine has not the instructions, or the matrix is too large or too small for it
  /// to be worth while.
  static std::unique_ptr<Coarse> of(BlockProduct& a);
  ~Coarse();
  Coarse(const Coarse&) = delete;
  Coarse& operator=(const Coarse&) = delete;

  /// y = A^T (A v), nearly.
  void apply(const Vectors& v, Vectors& y);
  /// The spectral norm of what rounding has added to the matrix, roughly.
  double noise() const { return noise_; }

 private:
  Coarse(BlockProduct& a, const CoarseKernels& kernels);
  void set_scales(const uint8_t* numbers, size_t row, size_t rows);
  void make(const uint8_t* numbers, size_t row, size_t rows, uint8_t* out) const;
  void set_noise();
  void set_vectors(const Vectors& v);
  void multiply(const uint8_t* a, size_t row, size_t rows, Vectors& y);
  void set_weights(size_t row, size_t rows);

  BlockProduct& a_;
  const CoarseKernels& kernels_;
  size_t columns_, pitch_, block_rows_;
  size_t kept_ = 0;  // bytes; none: they are made again for each product, as memory is taken
  double noise_ = 0;
  std::vector<float> scales_;  // of rows
  std::unique_ptr<uint8_t[]> bytes_;
  std::vector<int8_t> vectors_, weights_;
  std::vector<int32_t> products_;
  std::array<int32_t, kBlockVectors> vector_sums_{}, weight_sums_{};
  std::array<float, kBlockVectors> vector_scales_{}, weight_scales_{};
};

}  // namespace param_stats
