#include "block_tridiagonal.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace param_stats {
namespace {

// A residual this small says by its square how far off the value is, where so many blocks have been
// there that what is close to the value has shown itself.
constexpr double kSmallResidual = 1e-2;
constexpr Eigen::Index kLikelyBlocks = 6, kLikelyGap = 2;  // to the value so many below

}  // namespace

void Tridiagonal::add_diagonal(const Small& a) {
  put(a, size_, size_);
  last_ = size_;
  size_ += a.rows();
}

Ritz Tridiagonal::largest() {
  const auto block = static_cast<Eigen::Index>(kBlockVectors);
  const Eigen::SelfAdjointEigenSolver<Small> solver(t_.topLeftCorner(size_, size_));
  const auto& values = solver.eigenvalues();
  vectors_ = solver.eigenvectors().rightCols(std::min(block, size_));
  const Small residuals = below_ * vectors_.bottomRows(size_ - last_);
  const double value = values[size_ - 1];
  double squares = residuals.rightCols(1).squaredNorm(), error = 2 * std::sqrt(squares);
  Ritz out{.value = value,
           .residual = std::sqrt(squares) / value,
           .last = values[size_ - vectors_.cols()] / value,
           .likely_error = error / value};
  if (size_ >= kLikelyBlocks * block && out.residual <= kSmallResidual) {
    const double gap = value - values[size_ - 1 - kLikelyGap];
    out.likely_error = std::fmin(error, 2 * squares / gap) / value;
  }
  for (Eigen::Index i = vectors_.cols() - 2; i >= 0; --i) {
    const auto at = size_ - vectors_.cols() + i;
    const double gap = values[at + 1] - values[at];
    const double below = residuals.col(i).squaredNorm();
    if (below < gap * gap / 4) error = std::fmin(error, 2 * squares / gap);
    squares += below;
  }
  out.error = error / value;
  return out;
}

/// A block and its mirror image.
void Tridiagonal::put(const Small& block, Eigen::Index row, Eigen::Index column) {
  const auto need = std::max(row + block.rows(), column + block.cols());
  if (need > t_.rows()) {
    Small larger = Small::Zero(2 * need, 2 * need);
    larger.topLeftCorner(t_.rows(), t_.cols()) = t_;
    t_.swap(larger);
  }
  t_.block(row, column, block.rows(), block.cols()) = block;
  t_.block(column, row, block.cols(), block.rows()) = block.transpose();
}

}  // namespace param_stats
