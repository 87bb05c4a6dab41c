// Norms of whole filters and input channels, and of 2:4 patterns.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pruning {

/// A weight in rows, the slices of dim 0. Filters are dim 0, inputs dim 1; for transposed
/// convolutions the other way round.
struct Shape {
  std::vector<int64_t> dims;
  bool transposed = false;
  int64_t rows = 0, row = 0;       // number of rows; elements of a row
  int64_t columns = 0, inner = 0;  // size of dim 1; elements of a row with the same index of it

  /// Groups of four along the inputs, as NVIDIA's ASP (apex, sparse_masklib.py) cuts them: along
  /// dim 1 of a matrix, along the input channels of a convolution, permute(2, 3, 0, 1).
  bool fits_2_4_sparsity() const { return !transposed && columns > 0 && columns % 4 == 0; }
};
/// Rank at least 2 and no empty dim.
Shape shape_of(std::span<const int64_t> dims, bool transposed);

class Structure {
 public:
  Structure(const Shape& shape, int64_t first, bool whole_rows);

  /// Elements of the tensor from `first` on; whole rows by default.
  void add(int64_t first, std::span<const float> x);
  void merge(const Structure& next);

  /// L2 norms by index of dim 0 and dim 1; columns are empty where rows were split.
  std::vector<double> row_norms() const;
  std::vector<double> column_norms() const;
  /// Share of Σx² that stays when the two largest of each four stay; empty where rows cannot be cut
  /// into fours.
  std::optional<double> share_kept_by_2_4() const;

 private:
  void add_row(size_t row, const float* x);

  Shape shape_;
  int64_t first_row_;
  bool whole_rows_;
  double power_ = 0, kept_ = 0;
  std::vector<double> rows_, columns_;
};

/// Filters without effect: norm 0, or below a millionth of the median.
std::vector<size_t> dead_filters(const std::vector<double>& norms);
/// Share of the filters, without dead ones, whose norm is below a tenth of the median.
double low_share(const std::vector<double>& norms);

}  // namespace pruning
