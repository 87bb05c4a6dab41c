#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>

#include "matrix_kernels.hpp"
#include "spectrum.hpp"

namespace param_stats {
namespace {

constexpr size_t kPanelElements = size_t{1} << 16;  // 512 KiB: stays in L2
constexpr size_t kGatheredRows = 8;                 // write a whole cache line of the panel
/// Rows an odd number of cache lines apart: L1 holds few that are a power of two apart.
constexpr size_t kOddPadding = 8;

/// A few columns of a wide matrix, or rows of a tall one, as rows as long as the shorter side.
class Panels {
 public:
  Panels(const Matrix& a, double scale)
      : a_(a),
        scale_(scale),
        wide_(a.rows <= a.columns),
        m_(static_cast<size_t>(wide_ ? a.rows : a.columns)),
        stride_((m_ + kGramStep - 1) / kGramStep * kGramStep + kOddPadding),
        length_(wide_ ? a.columns : a.rows),
        most_(static_cast<int64_t>(std::max<size_t>(kPanelElements / stride_, 8))),
        panel_(static_cast<size_t>(most_) * stride_),
        rows_(wide_ ? kGatheredRows * static_cast<size_t>(most_) : 0) {}

  size_t m() const { return m_; }
  size_t stride() const { return stride_; }
  /// f(panel, rows) until the matrix is through.
  template <class F>
  void each(F f) {
    for (int64_t at = 0; at < length_; at += most_) {
      const int64_t n = std::min(most_, length_ - at);
      wide_ ? fill_columns(at, n) : fill_rows(at, n);
      f(panel_.data(), static_cast<size_t>(n));
    }
  }

 private:
  void read(int64_t first, int64_t count, double* to) {
    const std::span out(to, static_cast<size_t>(count));
    tmeter::decode<double>(a_.dtype, a_.read(first, count), out);
    for (auto& x : out) x /= scale_;
  }
  void fill_rows(int64_t at, int64_t n) {
    for (int64_t k = 0; k < n; ++k)
      read((at + k) * a_.columns, a_.columns, &panel_[static_cast<size_t>(k) * stride_]);
  }
  void fill_columns(int64_t at, int64_t n) {
    const auto count = static_cast<size_t>(n);
    for (size_t i = 0; i < m_; i += kGatheredRows) {
      const size_t rows = std::min(kGatheredRows, m_ - i);
      for (size_t r = 0; r < rows; ++r)
        read(static_cast<int64_t>(i + r) * a_.columns + at, n, &rows_[r * count]);
      for (size_t k = 0; k < count; ++k)
        for (size_t r = 0; r < rows; ++r) panel_[k * stride_ + i + r] = rows_[r * count + k];
    }
  }

  const Matrix& a_;
  double scale_;
  bool wide_;
  size_t m_, stride_;
  int64_t length_, most_;
  std::vector<double> panel_, rows_;
};

}  // namespace

Spectrum spectrum_by_gram(const Matrix& matrix, double scale, const std::function<bool()>& stop) {
  Panels panels(matrix, scale);
  const size_t m = panels.m(), stride = panels.stride();
  std::vector<double> gram(stride * stride);
  panels.each([&](double* panel, size_t rows) {
    if (stop()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
    add_gram(panel, rows, m, stride, gram.data());
  });
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(m);
  const Eigen::Map<const Rows, 0, Eigen::OuterStride<>> lower(
      gram.data(), size, size, Eigen::OuterStride<>(static_cast<Eigen::Index>(stride)));
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(lower, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success)
    throw tmeter::Error(TMETER_INTERNAL, "the eigenvalues of a Gram matrix do not converge");
  std::vector<double> values(solver.eigenvalues().begin(), solver.eigenvalues().end());
  const double largest = values.back();
  const double floor = largest * static_cast<double>(m) * 0x1p-52;
  for (auto& v : values) v = v > floor ? std::sqrt(v) : 0;
  return {values.back() * scale, 0, effective_rank(values)};
}

}  // namespace param_stats
