// Singular values against NumPy's, and against matrices made to have known ones.
#include "plugins/metrics/param_stats/spectrum.hpp"

#include <gtest/gtest.h>

#include "recorded.hpp"

namespace {

using param_stats::Matrix;

const std::function<bool()> kNever = [] { return false; };

Matrix matrix_of(const std::vector<uint8_t>& bytes, tmeter::DType type, int64_t rows,
                 int64_t columns) {
  const auto size = static_cast<size_t>(type.bytes());
  return {rows, columns, type, [&bytes, size](int64_t first, int64_t count) {
            return std::span(bytes).subspan(static_cast<size_t>(first) * size,
                                            static_cast<size_t>(count) * size);
          }};
}

TEST(Spectrum, AgreesWithNumPyForEveryRecordedMatrix) {
  int seen = 0;
  for (const auto& t : recorded::tensors()) {
    if (!t.expected.contains("effective_rank")) continue;
    SCOPED_TRACE(t.name);
    const auto a = matrix_of(t.bytes, t.dtype, t.shape[0], t.numel() / t.shape[0]);
    const auto spectrum = param_stats::spectrum_of(a, kNever);
    ASSERT_TRUE(spectrum && spectrum->effective_rank);
    EXPECT_TRUE(recorded::close(spectrum->norm, t.expected["spectral_norm"]));
    EXPECT_TRUE(recorded::close(*spectrum->effective_rank, t.expected["effective_rank"]));
    ++seen;
  }
  EXPECT_GE(seen, 10);
}

TEST(Spectrum, LanczosAgreesWithNumPyOnSmallMatricesToo) {
  for (const auto& t : recorded::tensors()) {
    if (!t.expected.contains("effective_rank") || t.name == "matrix.huge" ||
        t.name == "matrix.tiny")
      continue;
    SCOPED_TRACE(t.name);
    const auto norm = param_stats::norm_by_lanczos(
        matrix_of(t.bytes, t.dtype, t.shape[0], t.numel() / t.shape[0]), kNever);
    ASSERT_TRUE(norm);
    EXPECT_TRUE(recorded::close(*norm, t.expected["spectral_norm"]));
  }
}

/// (I - 2 u u^T) D (I - 2 v v^T): reflections leave the singular values, those in D, as they are.
std::vector<uint8_t> reflected(int64_t rows, int64_t columns,
                               const std::function<double(int64_t)>& value) {
  const auto unit = [](int64_t n, double step) {
    std::vector<double> u(static_cast<size_t>(n));
    double sum = 0;
    for (size_t i = 0; i < u.size(); ++i) {
      u[i] = std::sin(step * static_cast<double>(i + 1)) + 0.3;
      sum += u[i] * u[i];
    }
    for (auto& x : u) x /= std::sqrt(sum);
    return u;
  };
  const auto u = unit(rows, 0.7), v = unit(columns, 1.3);
  const int64_t side = std::min(rows, columns);
  double middle = 0;
  std::vector<double> d(static_cast<size_t>(side));
  for (size_t i = 0; i < d.size(); ++i) {
    d[i] = value(static_cast<int64_t>(i));
    middle += u[i] * d[i] * v[i];
  }
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < u.size(); ++i) {
    for (size_t j = 0; j < v.size(); ++j) {
      const double diagonal = i == j && i < d.size() ? d[i] : 0;
      const double left = j < d.size() ? u[i] * u[j] * d[j] : 0;
      const double right = i < d.size() ? d[i] * v[i] * v[j] : 0;
      a[i * v.size() + j] = diagonal - 2 * left - 2 * right + 4 * u[i] * middle * v[j];
    }
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(a.data());
  return {bytes, bytes + a.size() * sizeof(double)};
}

const tmeter::DType kFloat64(TMETER_DTYPE_FLOAT64);

TEST(Spectrum, TheNormOfALargeMatrixIsFoundWhereTheNextSingularValueIsClose) {
  // 1, 1 - 1e-3, 1 - 2e-3, …: the hard case for Lanczos' method.
  const auto bytes =
      reflected(1100, 1300, [](int64_t i) { return 5 * (1 - 1e-3 * static_cast<double>(i)); });
  const auto a = matrix_of(bytes, kFloat64, 1100, 1300);
  const auto spectrum = param_stats::spectrum_of(a, kNever);
  ASSERT_TRUE(spectrum);
  EXPECT_NEAR(spectrum->norm, 5, 5e-6);
  EXPECT_FALSE(spectrum->effective_rank);  // of so large a matrix it is not worked out
}

TEST(Spectrum, EqualSingularValuesAreNoTrap) {
  const auto bytes = reflected(1050, 1030, [](int64_t) { return 3.0; });
  const auto spectrum = param_stats::spectrum_of(matrix_of(bytes, kFloat64, 1050, 1030), kNever);
  ASSERT_TRUE(spectrum);
  EXPECT_NEAR(spectrum->norm, 3, 3e-6);
}

TEST(Spectrum, TheEffectiveRankCountsEqualSingularValues) {
  // 700 equal ones and 200 zeros: the entropy of 700 equal shares is ln 700.
  const auto bytes = reflected(900, 1500, [](int64_t i) { return i < 700 ? 2.0 : 0.0; });
  const auto spectrum = param_stats::spectrum_of(matrix_of(bytes, kFloat64, 900, 1500), kNever);
  ASSERT_TRUE(spectrum && spectrum->effective_rank);
  EXPECT_NEAR(spectrum->norm, 2, 2e-6);
  EXPECT_NEAR(*spectrum->effective_rank, 700, 700e-6);
}

TEST(Spectrum, CtrlCIsHeardWhileSingularValuesAreWorkedOut) {
  const std::vector<uint8_t> bytes(sizeof(double) * 40 * 50, 1);
  const auto a = matrix_of(bytes, kFloat64, 40, 50);
  EXPECT_THROW(param_stats::spectrum_of(a, [] { return true; }), tmeter::Error);
  EXPECT_THROW(param_stats::norm_by_lanczos(a, [] { return true; }), tmeter::Error);
}

}  // namespace
