#include "structure.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace pruning {
namespace {

constexpr double kDead = 1e-6, kLow = 0.1;  // share of the median norm

/// Four consecutive inputs at `stride`, for every one of `inner` positions: Σx² of the two largest.
/// The two largest of a, b, c, d are {a, b}, {c, d}, or the larger of each pair.
double kept_of_four(const float* x, size_t inner) {
  double sum = 0;
  for (size_t i = 0; i < inner; ++i) {
    const double a = x[i], b = x[inner + i], c = x[2 * inner + i], d = x[3 * inner + i];
    const double aa = a * a, bb = b * b, cc = c * c, dd = d * d;
    sum += std::max({aa + bb, cc + dd, std::max(aa, bb) + std::max(cc, dd)});
  }
  return sum;
}

double median_of(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

std::vector<double> roots(const std::vector<double>& squares) {
  std::vector<double> out(squares.size());
  std::transform(squares.begin(), squares.end(), out.begin(),
                 [](double v) { return std::sqrt(v); });
  return out;
}

}  // namespace

Shape shape_of(std::span<const int64_t> dims, bool transposed) {
  Shape s;
  s.dims.assign(dims.begin(), dims.end());
  s.transposed = transposed;
  s.rows = dims[0];
  s.columns = dims[1];
  s.inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) s.inner *= dims[i];
  s.row = s.columns * s.inner;
  return s;
}

Structure::Structure(const Shape& shape, int64_t first, bool whole_rows)
    : shape_(shape), first_row_(first / shape.row), whole_rows_(whole_rows) {
  if (whole_rows_) columns_.resize(static_cast<size_t>(shape_.columns));
}

void Structure::add(int64_t first, std::span<const float> x) {
  while (!x.empty()) {
    const int64_t at = first % shape_.row;
    const auto row = static_cast<size_t>(first / shape_.row - first_row_);
    const auto n = static_cast<size_t>(std::min(static_cast<int64_t>(x.size()), shape_.row - at));
    if (rows_.size() <= row) rows_.resize(row + 1);
    if (whole_rows_) {
      add_row(row, x.data());
    } else {
      double sum = 0;
      for (size_t i = 0; i < n; ++i) sum += double{x[i]} * double{x[i]};
      rows_[row] += sum;
      power_ += sum;
      // Chunks begin at multiples of 4,096 and such rows at multiples of four: no group is split.
      if (shape_.fits_2_4_sparsity() && shape_.inner == 1)
        for (size_t i = 0; i + 4 <= n; i += 4) kept_ += kept_of_four(x.data() + i, 1);
    }
    x = x.subspan(n);
    first += static_cast<int64_t>(n);
  }
}

void Structure::add_row(size_t row, const float* x) {
  const auto inner = static_cast<size_t>(shape_.inner);
  if (inner == 1) {
    const auto squares =
        add_squares(x, columns_.size(), shape_.fits_2_4_sparsity(), columns_.data());
    rows_[row] += squares.all;
    power_ += squares.all;
    kept_ += squares.kept;
    return;
  }
  double all = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    double sum = 0;
    for (size_t i = 0; i < inner; ++i) sum += double{x[c * inner + i]} * double{x[c * inner + i]};
    columns_[c] += sum;
    all += sum;
  }
  rows_[row] += all;
  power_ += all;
  if (!shape_.fits_2_4_sparsity()) return;
  for (size_t c = 0; c < columns_.size(); c += 4) kept_ += kept_of_four(x + c * inner, inner);
}

void Structure::merge(const Structure& next) {
  power_ += next.power_;
  kept_ += next.kept_;
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i] += next.columns_[i];
  const auto at = static_cast<size_t>(next.first_row_ - first_row_);
  rows_.resize(std::max(rows_.size(), at + next.rows_.size()));
  for (size_t i = 0; i < next.rows_.size(); ++i) rows_[at + i] += next.rows_[i];
}

std::vector<double> Structure::row_norms() const { return roots(rows_); }
std::vector<double> Structure::column_norms() const { return roots(columns_); }

std::optional<double> Structure::share_kept_by_2_4() const {
  const bool has_rows = whole_rows_ || shape_.inner == 1;
  if (!shape_.fits_2_4_sparsity() || !has_rows || power_ == 0) return std::nullopt;
  return kept_ / power_;
}

std::vector<size_t> dead_filters(const std::vector<double>& norms) {
  std::vector<size_t> out;
  if (norms.empty()) return out;
  const double limit = kDead * median_of(norms);
  for (size_t i = 0; i < norms.size(); ++i)
    if (norms[i] <= limit) out.push_back(i);
  return out;
}

double low_share(const std::vector<double>& norms) {
  if (norms.empty()) return 0;
  const double median = median_of(norms);
  const auto low = std::count_if(norms.begin(), norms.end(),
                                 [&](double v) { return v > kDead * median && v < kLow * median; });
  return static_cast<double>(low) / static_cast<double>(norms.size());
}

}  // namespace pruning
