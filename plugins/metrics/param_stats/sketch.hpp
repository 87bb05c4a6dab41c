// A few sums of all rows of a matrix, each row times a random factor: what is large in the matrix
// is large in them. Made while a tensor streams by, it costs a small part of a product with the
// matrix, and no reading. Clarkson & Woodruff, "Low rank approximation and regression in input
// sparsity time", 2013.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <tmeter/cpp/dtype.hpp>
#include <vector>

#include "matrix_kernels.hpp"

namespace param_stats {

/// Types that are multiplied as they lie there; others are decoded to float before.
std::optional<Stored> stored_as(tmeter::DType type);

/// f(first column, how many) for columns whose parts of four vectors stay in the first cache.
template <class F>
void each_tile(size_t columns, F f) {
  constexpr size_t kTileColumns = 1024;
  for (size_t j = 0; j < columns; j += kTileColumns) f(j, std::min(kTileColumns, columns - j));
}

class RowSketch {
 public:
  /// Columns of which `kLeastSums` sums are few enough for every part of a tensor to have them.
  static constexpr int64_t kMostColumns = int64_t{1} << 15;

  /// All numbers are multiplied by `scale`.
  RowSketch(tmeter::DType type, int64_t columns, float scale = 1);
  /// Elements from the `first` on in row-major order, no matter in what pieces but for rounding.
  void add(int64_t first, std::span<const uint8_t> elements);
  void merge(const RowSketch& other);

  size_t sums() const { return sums_; }
  /// Of a sum, in the kernels' order; zeros are among them up to a multiple of kBlockStep.
  size_t stride() const { return stride_; }
  const float* data() const { return numbers_.data(); }
  /// B B^T, B the sums as rows; sums() numbers a row.
  std::vector<float> gram() const;

 private:
  void add_rows(int64_t row, const uint8_t* at, size_t rows);
  const uint8_t* among_zeros(const uint8_t* at, size_t column, size_t columns);

  std::optional<Stored> stored_;
  tmeter::DType type_;
  size_t size_, columns_, stride_, sums_;
  float scale_;
  std::vector<float> numbers_, decoded_;
  std::vector<uint8_t> row_;  // of which only a piece is known
};

}  // namespace param_stats
