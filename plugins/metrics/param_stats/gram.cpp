#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>

#include "matrix_kernels.hpp"
#include "spectrum.hpp"

namespace param_stats {
namespace {

constexpr size_t kPanelNumbers = size_t{1} << 16;  // 512 KiB: stays in the second cache
constexpr size_t kGathered = 8;
// An odd number of cache lines a row: of rows a power of two apart the first cache holds few.
constexpr size_t kOdd = 8;

/// A few columns of a wide matrix, or rows of a tall one, as rows of the shorter side's length.
class Panels {
 public:
  explicit Panels(const Matrix& a)
      : a_(a),
        wide_(a.rows <= a.columns),
        m_(static_cast<size_t>(wide_ ? a.rows : a.columns)),
        stride_((m_ + kGramStep - 1) / kGramStep * kGramStep + kOdd),
        length_(wide_ ? a.columns : a.rows),
        most_(static_cast<int64_t>(std::max<size_t>(kPanelNumbers / stride_, 8))),
        panel_(static_cast<size_t>(most_) * stride_),
        rows_(wide_ ? kGathered * static_cast<size_t>(most_) : 0) {}

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
    tmeter::decode<double>(a_.dtype, a_.read(first, count),
                           std::span(to, static_cast<size_t>(count)));
  }
  void fill_rows(int64_t at, int64_t n) {
    for (int64_t k = 0; k < n; ++k)
      read((at + k) * a_.columns, a_.columns, &panel_[static_cast<size_t>(k) * stride_]);
  }
  /// Some rows at a time: a line of the cache is written as a whole.
  void fill_columns(int64_t at, int64_t n) {
    const auto count = static_cast<size_t>(n);
    for (size_t i = 0; i < m_; i += kGathered) {
      const size_t rows = std::min(kGathered, m_ - i);
      for (size_t r = 0; r < rows; ++r)
        read(static_cast<int64_t>(i + r) * a_.columns + at, n, &rows_[r * count]);
      for (size_t k = 0; k < count; ++k)
        for (size_t r = 0; r < rows; ++r) panel_[k * stride_ + i + r] = rows_[r * count + k];
    }
  }

  const Matrix& a_;
  bool wide_;
  size_t m_, stride_;
  int64_t length_, most_;
  std::vector<double> panel_, rows_;
};

/// The eigenvalues of a symmetric matrix, of which the lower triangle is given and used up.
std::vector<double> eigenvalues(std::vector<double>& symmetric, size_t m, size_t stride,
                                const std::function<bool()>& stop) {
  const auto size = static_cast<Eigen::Index>(m);
  Eigen::VectorXd diagonal(size), below(size - 1);
  if (!make_tridiagonal(symmetric.data(), m, stride, diagonal.data(), below.data(), stop))
    throw tmeter::Error(TMETER_CANCELLED, "stopped");
  // Eigen takes what is small beside 1 for 0. A power of two changes no digit.
  const double largest = std::fmax(diagonal.cwiseAbs().maxCoeff(), 1e-300);
  const double scale = std::exp2(-std::ilogb(largest));
  diagonal *= scale;
  below *= scale;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, below, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success)
    throw tmeter::Error(TMETER_INTERNAL, "the eigenvalues of a Gram matrix do not converge");
  const Eigen::VectorXd found = solver.eigenvalues() / scale;
  return {found.data(), found.data() + found.size()};
}

/// What numbers are divided by so that their squares neither overflow nor vanish.
double scale_of(const Matrix& a) {
  if (a.dtype.id() != TMETER_DTYPE_FLOAT64) return 1;  // squares of all others fit
  double largest = 0;
  std::vector<double> row;
  for (int64_t at = 0, all = a.rows * a.columns; at < all; at += int64_t{1} << 16) {
    row.resize(static_cast<size_t>(std::min<int64_t>(all - at, int64_t{1} << 16)));
    tmeter::decode<double>(a.dtype, a.read(at, static_cast<int64_t>(row.size())),
                           std::span<double>(row));
    for (const double x : row) largest = std::fmax(largest, std::fabs(x));
  }
  return largest > 0 ? largest : 1;
}

}  // namespace

Spectrum spectrum_by_gram(const Matrix& matrix, const std::function<bool()>& stop) {
  Panels panels(matrix);
  const double scale = scale_of(matrix);
  const size_t m = panels.m(), stride = panels.stride();
  std::vector<double> gram(stride * stride);
  panels.each([&](double* panel, size_t rows) {
    if (stop()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
    if (scale != 1)
      for (size_t i = 0; i < rows * stride; ++i) panel[i] /= scale;
    add_gram(panel, rows, m, stride, gram.data());
  });
  auto values = eigenvalues(gram, m, stride, stop);
  const double largest = *std::max_element(values.begin(), values.end());
  const double floor = largest * static_cast<double>(m) * 0x1p-52;
  for (auto& v : values) v = v > floor ? std::sqrt(v) : 0;
  return {std::sqrt(largest) * scale, effective_rank(values)};
}

}  // namespace param_stats
