// The tridiagonal matrix has the eigenvalues of the symmetric one, as Eigen finds them in that.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <functional>
#include <random>

#include "plugins/metrics/param_stats/matrix_kernels.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using EigenSolver = Eigen::SelfAdjointEigenSolver<MatrixXd>;

/// Of the lower triangle alone: what lies above it, and behind the rows, is not to be used.
VectorXd by_kernel(const MatrixXd& symmetric, size_t stride) {
  const auto m = static_cast<size_t>(symmetric.rows());
  std::vector<double> a(m * stride, 1e9);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j <= i; ++j)
      a[i * stride + j] = symmetric(static_cast<Index>(i), static_cast<Index>(j));
  VectorXd diagonal(symmetric.rows()), below(symmetric.rows() - 1);
  param_stats::make_tridiagonal(a.data(), m, stride, diagonal.data(), below.data());
  const double scale = std::fmax(diagonal.cwiseAbs().maxCoeff(), 1e-300);  // Eigen asks for it
  EigenSolver solver;
  solver.computeFromTridiagonal(diagonal / scale, below / scale, Eigen::EigenvaluesOnly);
  return solver.eigenvalues() * scale;
}

MatrixXd random_matrix(Index rows, Index columns) {
  std::mt19937 random(static_cast<uint32_t>(rows));
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

struct SymmetricKind {
  const char* name;
  std::function<MatrixXd(Index)> make;
};
const SymmetricKind kSymmetric[]{
    {"Gram matrix",
     [](Index m) {
       const MatrixXd a = random_matrix(m, m + 3);
       return MatrixXd(a * a.transpose());
     }},
    {"of signs",
     [](Index m) {
       const MatrixXd a = random_matrix(m, m);
       return MatrixXd(a + a.transpose());
     }},
    {"rank 1",
     [](Index m) {
       const MatrixXd a = random_matrix(m, 1);
       return MatrixXd(a * a.transpose());
     }},
    {"diagonal", [](Index m) { return MatrixXd(random_matrix(m, 1).col(0).asDiagonal()); }},
    {"zeros", [](Index m) { return MatrixXd(MatrixXd::Zero(m, m)); }},
    {"equal numbers", [](Index m) { return MatrixXd(MatrixXd::Constant(m, m, 2.5)); }},
    {"small numbers",
     [](Index m) {
       const MatrixXd a = 1e-45 * random_matrix(m, m);
       return MatrixXd(a * a.transpose());
     }},
    {"large numbers",
     [](Index m) {
       const MatrixXd a = 1e38 * random_matrix(m, m);
       return MatrixXd(a * a.transpose());
     }},
};

TEST(Tridiagonal, HasTheEigenvaluesOfTheMatrix) {
  instruction_sets::each([] {
    for (const auto& kind : kSymmetric) {
      for (const Index m : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 101}) {
        const MatrixXd a = kind.make(m);
        const VectorXd wanted = EigenSolver(a, Eigen::EigenvaluesOnly).eigenvalues();
        const double scale = wanted.cwiseAbs().maxCoeff();
        const VectorXd found = by_kernel(a, static_cast<size_t>(m) + 5);
        for (Index i = 0; i < m; ++i)
          EXPECT_NEAR(found[i], wanted[i], 1e-13 * scale) << kind.name << ' ' << m;
      }
    }
  });
}

}  // namespace
