// The largest singular value by Lanczos' method on A^T A.
//
// Three vectors are kept and nothing is orthogonalized again: rounding then repeats eigenvalues
// that have converged, but does not hurt the largest (Paige 1980). Each step reads the matrix once:
// a row that was multiplied is still in the cache when it is added.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>

#include "matrix_kernels.hpp"
#include "spectrum.hpp"

namespace param_stats {
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

/// The same on every machine, and unlikely to be orthogonal to a singular vector: splitmix64.
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
  // Eigen takes values that are small beside 1 for 0. Powers of two lose no digit.
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
    const bool invariant = beta.back() <= 1e-14 * along;  // the subspace has all there is to know
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

}  // namespace param_stats
