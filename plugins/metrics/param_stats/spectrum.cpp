#include "spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>
#include <vector>

namespace param_stats {
namespace {

constexpr size_t kPanelElements = size_t{1} << 16;  // 512 KiB: stays in L2
constexpr size_t kGatheredRows = 8;                 // write a whole cache line of the panel
/// Puts rows an odd number of cache lines apart, because L1 can hold only few lines at distances of
/// a power of two.
constexpr size_t kOddPadding = 8;

/// A few columns of a wide matrix, or rows of a tall one, stored as rows of the shorter side's
/// length.
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
  /// Calls f(panel, rows) for the whole matrix.
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

// The largest singular value by Lanczos' method on A^T A.
//
// Three vectors are kept and nothing is orthogonalized again: rounding then repeats eigenvalues
// that have converged, but does not hurt the largest (Paige 1980). Each step reads the matrix once:
// a row that was multiplied is still in the cache when it is added.

namespace {

constexpr int64_t kDecodedElements = int64_t{1} << 16;  // at a time
constexpr size_t kMaxSteps = 1000;

/// out = A^T (A v), A divided by `scale`.
class NormalOperator {
 public:
  NormalOperator(const Matrix& a, double scale, const std::function<bool()>& stop)
      : a_(a), scale_(scale), stop_(stop) {
    rows_at_once_ = std::max<int64_t>(1, kDecodedElements / a.columns);
    const auto elements = static_cast<size_t>(rows_at_once_ * a.columns);
    // Types of at most 16 bits are exact as float32, which is read faster.
    a.dtype.bytes() > 2 ? doubles_.resize(elements) : floats_.resize(elements);
  }
  void apply(const std::vector<double>& v, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (int64_t row = 0; row < a_.rows; row += rows_at_once_) {
      if (stop_()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
      const int64_t rows = std::min(rows_at_once_, a_.rows - row);
      a_.dtype.bytes() > 2 ? multiply(doubles_, row, rows, v, out)
                           : multiply(floats_, row, rows, v, out);
    }
  }

 private:
  template <class T>
  void multiply(std::vector<T>& buffer, int64_t row, int64_t rows, const std::vector<double>& v,
                std::vector<double>& out) {
    const auto elements = std::span(buffer).first(static_cast<size_t>(rows * a_.columns));
    tmeter::decode<T>(a_.dtype, a_.read(row * a_.columns, rows * a_.columns), elements);
    if (scale_ != 1)
      for (auto& x : elements) x /= static_cast<T>(scale_);
    add_normal_product(buffer.data(), static_cast<size_t>(rows), static_cast<size_t>(a_.columns),
                       v.data(), out.data());
  }

  const Matrix& a_;
  double scale_;
  const std::function<bool()>& stop_;
  int64_t rows_at_once_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
};

double norm_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

/// A start vector by splitmix64: equal on every machine, and unlikely to be orthogonal to a
/// singular vector.
std::vector<double> start_vector(size_t n) {
  std::vector<double> v(n);
  uint64_t state = 0;
  for (auto& x : v) {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    x = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
  }
  const double norm = norm_of(v);
  for (auto& x : v) x /= norm;
  return v;
}

struct Ritz {
  double value, error;  // an estimate of the largest eigenvalue, and a bound on its error
};

/// From the tridiagonal matrix of the steps so far. With residual r and the gap to the next
/// eigenvalue, the error is at most min(r, r^2 / gap) (Parlett, The Symmetric Eigenvalue Problem,
/// 11.7). A copy of the value itself is not the next eigenvalue.
Ritz largest_ritz(const std::vector<double>& alpha, const std::vector<double>& beta) {
  const auto k = static_cast<Eigen::Index>(alpha.size());
  // Eigen treats values that are small compared with 1 as 0. Scaling by powers of two is exact.
  const double scale = std::exp2(std::ilogb(*std::max_element(alpha.begin(), alpha.end())));
  const Eigen::VectorXd diagonal = Eigen::Map<const Eigen::VectorXd>(alpha.data(), k) / scale;
  const Eigen::VectorXd below = Eigen::Map<const Eigen::VectorXd>(beta.data(), k - 1) / scale;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, below, Eigen::ComputeEigenvectors);
  const auto& values = solver.eigenvalues();
  const double value = values[k - 1];
  const double residual = beta.back() / scale * std::fabs(solver.eigenvectors()(k - 1, k - 1));
  double gap = value;
  for (Eigen::Index i = k - 2; i >= 0 && gap == value; --i)
    if (value - values[i] > 1e-9 * value) gap = value - values[i];
  return {value * scale, std::fmin(residual, residual * residual / gap) * scale};
}

}  // namespace

std::optional<double> norm_by_lanczos(const Matrix& matrix, double scale, double tolerance,
                                      const std::function<bool()>& stop) {
  NormalOperator a(matrix, scale, stop);
  const auto n = static_cast<size_t>(matrix.columns);
  std::vector<double> before(n), now = start_vector(n), next(n), alpha, beta;
  for (size_t step = 1, check = 4; step <= kMaxSteps; ++step) {
    a.apply(now, next);
    double along = 0;
    for (size_t i = 0; i < n; ++i) along += next[i] * now[i];
    const double back = beta.empty() ? 0 : beta.back();
    for (size_t i = 0; i < n; ++i) next[i] -= along * now[i] + back * before[i];
    alpha.push_back(along);
    beta.push_back(norm_of(next));
    const bool invariant = beta.back() <= 1e-14 * along;  // the subspace is complete
    if (invariant || step == check) {
      const auto ritz = largest_ritz(alpha, beta);
      // An eigenvalue is the square of a singular value: twice the relative error.
      if (invariant || ritz.error <= 2 * tolerance * ritz.value)
        return std::sqrt(ritz.value) * scale;
      check += std::max<size_t>(4, step / 8);  // the check itself takes step^3
    }
    for (size_t i = 0; i < n; ++i) before[i] = next[i] / beta.back();
    before.swap(now);
  }
  return std::nullopt;
}

namespace {

constexpr int64_t kPiece = int64_t{1} << 16;  // elements decoded at a time

template <class F>
void each_piece(const Matrix& a, const std::function<bool()>& stop, F f) {
  std::vector<double> piece;
  for (int64_t at = 0, all = a.rows * a.columns; at < all; at += kPiece) {
    if (stop()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
    piece.resize(static_cast<size_t>(std::min(all - at, kPiece)));
    tmeter::decode<double>(a.dtype, a.read(at, static_cast<int64_t>(piece.size())),
                           std::span<double>(piece));
    f(std::span<const double>(piece));
  }
}

/// The largest magnitude; infinite or NaN if an element is.
double largest_of(const Matrix& a, const std::function<bool()>& stop) {
  double largest = 0;
  each_piece(a, stop, [&](auto piece) {
    for (const double x : piece)
      if (!(std::fabs(x) <= largest)) largest = std::isnan(largest) ? largest : std::fabs(x);
  });
  return largest;
}

/// The squared Frobenius norm of the matrix divided by `scale`.
double sum_of_squares(const Matrix& a, double scale, const std::function<bool()>& stop) {
  double sum = 0;
  each_piece(a, stop, [&](auto piece) {
    double part = 0;
    for (const double x : piece) part += (x / scale) * (x / scale);
    sum += part;
  });
  return sum;
}

}  // namespace

double effective_rank(std::span<const double> singular_values) {
  double sum = 0, entropy = 0;
  for (const double s : singular_values) sum += s;
  for (const double s : singular_values)
    if (s > 0) entropy -= s / sum * std::log(s / sum);
  return std::exp(entropy);
}

SpectrumResult spectrum_of(const Matrix& matrix, const SpectrumOptions& options,
                           const std::function<bool()>& stop) {
  const double largest = largest_of(matrix, stop);
  if (!std::isfinite(largest)) return {std::nullopt, false};
  if (largest == 0) return {Spectrum{}, true};
  // The square of a float64 may overflow a double. Dividing by a power of two loses no digit.
  const bool is_double = matrix.dtype.id() == TMETER_DTYPE_FLOAT64;
  const double scale = is_double ? std::exp2(std::ilogb(largest)) : 1;
  const int64_t side = matrix.shorter_side();
  Spectrum out;
  if (side <= options.rank_side) {
    out = spectrum_by_gram(matrix, scale, stop);
  } else if (const auto norm = norm_by_lanczos(matrix, scale, options.tolerance, stop)) {
    out.norm = *norm;
  } else if (side <= kMaxGramSide) {
    out.norm = spectrum_by_gram(matrix, scale, stop).norm;
  } else {
    return {};
  }
  const double norm = out.norm / scale;
  out.stable_rank = sum_of_squares(matrix, scale, stop) / (norm * norm);
  return {out, true};
}

}  // namespace param_stats
