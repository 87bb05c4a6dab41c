// The product of block Lanczos' method, numbers multiplied as they are stored: a block of rows
// twice while it is in the second cache, for A V, and for A^T (A V).
#pragma once
#include <functional>
#include <optional>
#include <tmeter/cpp/base.hpp>
#include <vector>

#include "block_vectors.hpp"
#include "spectrum.hpp"

namespace param_stats {

/// y = (s A)^T (s A v), s a power of two that keeps numbers far from 1 within float.
class BlockProduct {
 public:
  BlockProduct(const Matrix& a, const std::function<bool()>& stop);
  double scale() const { return static_cast<double>(scale_); }
  Stored stored() const { return stored_.value_or(Stored::kFloat); }
  const Matrix& matrix() const { return a_; }

  void apply(Vectors& v, Vectors& y);
  /// (s A v)^T (s A v)
  Small squares(Vectors& v);
  /// Of s A.
  RowSketch sketch();
  /// f(numbers as `stored`, first row, how many) for all rows, so many of them at a time.
  template <class F>
  void each_block(int64_t rows, F f) {
    for (int64_t row = 0; row < a_.rows; row += rows) {
      check_stop();
      const int64_t n = std::min(rows, a_.rows - row);
      f(read(row, n), row, static_cast<size_t>(n));
    }
  }
  void check_stop() const {
    if (stop_()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
  }

 private:
  const uint8_t* read(int64_t row, int64_t rows);
  void multiply(const uint8_t* a, size_t rows, const Vectors& v);

  const Matrix& a_;
  const std::function<bool()>& stop_;
  std::optional<Stored> stored_;
  float scale_ = 1;
  int64_t rows_ = 2;
  std::vector<float> products_, decoded_;
};

}  // namespace param_stats
