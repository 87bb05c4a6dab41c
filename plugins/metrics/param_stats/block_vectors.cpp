#include "block_vectors.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdint>

namespace param_stats {

// splitmix64
void fill_at_random(Vectors& v) {
  uint64_t state = 0;
  v.resize(kBlockVectors);
  auto matrix = v.matrix();
  for (Eigen::Index k = 0; k < matrix.cols(); ++k) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      state += 0x9e3779b97f4a7c15u;
      uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      matrix(i, k) = static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f - 0.5f;
    }
  }
}

Small products(const Vectors& a, const Vectors& b) {
  Eigen::Matrix<double, kBlockVectors, kBlockVectors, Eigen::RowMajor> out;
  block_products(a.data(), b.data(), a.stride(), out.data());
  return out.topLeftCorner(static_cast<Eigen::Index>(a.count()),
                           static_cast<Eigen::Index>(b.count()));
}

void add_mixed(Vectors& w, const Vectors& q, const Small& factors) {
  Eigen::Matrix<float, kBlockVectors, kBlockVectors, Eigen::RowMajor> f;
  f.setZero();
  f.topLeftCorner(factors.rows(), factors.cols()) = factors.cast<float>();
  add_block_mix(q.data(), f.data(), q.stride(), w.data());
}

Small orthonormalise(Vectors& w, double floor, Vectors& q) {
  const Eigen::SelfAdjointEigenSolver<Small> solver(products(w, w));
  const auto& squares = solver.eigenvalues();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < squares.size(); ++i)
    if (squares[i] > floor * floor) kept.push_back(i);
  const auto rank = static_cast<Eigen::Index>(kept.size()), count = squares.size();
  Small b(rank, count), back(count, rank);
  for (Eigen::Index i = 0; i < rank; ++i) {
    const double size = std::sqrt(squares[kept[static_cast<size_t>(i)]]);
    b.row(i) = size * solver.eigenvectors().col(kept[static_cast<size_t>(i)]).transpose();
    back.col(i) = solver.eigenvectors().col(kept[static_cast<size_t>(i)]) / size;
  }
  q.clear();
  q.resize(kept.size());
  add_mixed(q, w, back);
  return b;
}

}  // namespace param_stats
