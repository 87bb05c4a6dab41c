// Singular values against NumPy's, and against matrices constructed with known ones.
#include "plugins/metrics/param_stats/spectrum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "recorded.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

using param_stats::Matrix;

const std::function<bool()> kNever = [] { return false; };
constexpr double kTightly = 1e-7;
constexpr param_stats::SpectrumOptions kTight{kTightly, 1024};

Matrix matrix_of(const std::vector<uint8_t>& bytes, tmeter::DType type, int64_t rows,
                 int64_t columns) {
  const auto size = static_cast<size_t>(type.bytes());
  return {rows, columns, type, [&bytes, size](int64_t first, int64_t count) {
            return std::span(bytes).subspan(static_cast<size_t>(first) * size,
                                            static_cast<size_t>(count) * size);
          }};
}

std::optional<param_stats::Spectrum> spectrum_of(const Matrix& a,
                                                 const param_stats::SpectrumOptions& options = {}) {
  return param_stats::spectrum_of(a, options, kNever).spectrum;
}

TEST(Spectrum, AgreesWithNumPyForEveryRecordedMatrix) {
  int seen = 0;
  for (const auto& t : recorded::tensors()) {
    if (!t.expected.contains("effective_rank")) continue;
    SCOPED_TRACE(t.name);
    const auto a = matrix_of(t.bytes, t.dtype, t.shape[0], t.numel() / t.shape[0]);
    const auto spectrum = spectrum_of(a, kTight);
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
        matrix_of(t.bytes, t.dtype, t.shape[0], t.numel() / t.shape[0]), 1, kTightly, kNever);
    ASSERT_TRUE(norm);
    EXPECT_TRUE(recorded::close(*norm, t.expected["spectral_norm"]));
  }
}

/// (I - 2 u u^T) D (I - 2 v v^T): reflections preserve the singular values, those of D.
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
  const auto spectrum = spectrum_of(a, kTight);
  ASSERT_TRUE(spectrum);
  EXPECT_NEAR(spectrum->norm, 5, 5e-6);
  EXPECT_FALSE(spectrum->effective_rank);  // not computed for so large a matrix
}

TEST(Spectrum, TheNormOfEqualSingularValuesIsFound) {
  const auto bytes = reflected(1050, 1030, [](int64_t) { return 3.0; });
  const auto spectrum = spectrum_of(matrix_of(bytes, kFloat64, 1050, 1030), kTight);
  ASSERT_TRUE(spectrum);
  EXPECT_NEAR(spectrum->norm, 3, 3e-6);
}

TEST(Spectrum, TheEffectiveRankCountsEqualSingularValues) {
  // 700 equal values and 200 zeros: the entropy of 700 equal shares is ln 700.
  const auto bytes = reflected(900, 1500, [](int64_t i) { return i < 700 ? 2.0 : 0.0; });
  const auto spectrum = spectrum_of(matrix_of(bytes, kFloat64, 900, 1500), kTight);
  ASSERT_TRUE(spectrum && spectrum->effective_rank);
  EXPECT_NEAR(spectrum->norm, 2, 2e-6);
  EXPECT_NEAR(*spectrum->effective_rank, 700, 700e-6);
}

template <class To, class Convert>
std::vector<uint8_t> stored_as(const std::vector<float>& x, Convert convert) {
  std::vector<To> out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), convert);
  const auto* bytes = reinterpret_cast<const uint8_t*>(out.data());
  return {bytes, bytes + out.size() * sizeof(To)};
}

constexpr double kDefault = param_stats::kDefaultTolerance;

std::vector<uint8_t> as_floats(const std::vector<uint8_t>& doubles, float times) {
  std::vector<double> x(doubles.size() / sizeof(double));
  std::memcpy(x.data(), doubles.data(), doubles.size());
  return stored_as<float>({x.begin(), x.end()}, [times](float v) { return v * times; });
}

TEST(Spectrum, TheNormIsFoundWhereSeveralValuesAreCloseToTheLargest) {
  // Some values within 3 % above all others. After random reflections the rows are alike; without
  // them, each value lies in a row of its own, and these rows are adjacent.
  const tmeter::DType float32(TMETER_DTYPE_FLOAT32);
  for (const int64_t close : {1, 3, 4, 5, 8, 20}) {
    for (const double above : {1.2, 2.0, 4.0, 10.0}) {
      const auto value = [=](int64_t i) {
        const double x = static_cast<double>(i);
        return i < close ? above * (1 - 0.03 * x / static_cast<double>(close))
                         : 1 - 0.5 * std::pow(x / 1100, 0.667);
      };
      std::vector<float> plain(size_t{1100} * 1150);
      for (int64_t i = 0; i < 1100; ++i)
        plain[static_cast<size_t>(i * 1150 + (i * 7 + 3) % 1150)] = static_cast<float>(value(i));
      const auto rows = stored_as<float>(plain, [](float x) { return x; });
      for (const auto& bytes : {as_floats(reflected(1100, 1150, value), 1), rows}) {
        const auto norm = param_stats::norm_by_lanczos(matrix_of(bytes, float32, 1100, 1150), 1,
                                                       kDefault, kNever);
        ASSERT_TRUE(norm) << close << " values, " << above;
        EXPECT_NEAR(*norm, above, above * kDefault) << close << " values, " << above;
      }
    }
  }
}

/// U D V^T, where U and V are twelve random reflections each: the singular values are those of D.
std::vector<uint8_t> mirrored(int64_t rows, int64_t columns, std::mt19937& random,
                              const std::function<double(int64_t)>& value) {
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  const auto unit = [&](int64_t n) {
    VectorXd u(n);
    for (auto& x : u)
      for (int i = x = 0; i < 4; ++i) x += static_cast<double>(random()) - 0x1p+31;
    return VectorXd(u.normalized());
  };
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> a =
      MatrixXd::Zero(rows, columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) a(i, i) = value(i);
  for (int k = 0; k < 12; ++k) {
    const VectorXd u = unit(rows), v = unit(columns);
    a -= 2 * u * (u.transpose() * a).eval();
    a -= 2 * (a * v).eval() * v.transpose();
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(a.data());
  return {bytes, bytes + a.size() * static_cast<int64_t>(sizeof(double))};
}

TEST(Spectrum, TheNormOfClusteredLargeValuesIsFound) {
  // Four to eight values ten times all others; twenty or forty within 0.3 %.
  struct Kind {
    int close;
    double above, within;
  };
  const tmeter::DType float32(TMETER_DTYPE_FLOAT32);
  std::mt19937 random(7);
  for (const auto& [close, above, within] : {Kind{4, 10, 0.1},
                                             {5, 10, 0.03},
                                             {6, 10, 0.03},
                                             {6, 10, 0.1},
                                             {8, 10, 0.1},
                                             {8, 10, 0.03},
                                             {20, 1.02, 0.003},
                                             {20, 4, 0.003},
                                             {20, 10, 0.003},
                                             {40, 1.2, 0.003}}) {
    for (const auto& [rows, columns] :
         {std::pair{65, 400}, {400, 66}, {70, 70}, {300, 260}, {130, 900}, {1500, 128}}) {
      for (int again = 0; again < 4; ++again) {
        const auto value = [kind = Kind{close, above, within},
                            count = std::min(rows, columns)](int64_t i) {
          const auto x = static_cast<double>(i);
          return i < kind.close ? kind.above * (1 - kind.within * x / kind.close)
                                : 1 - 0.5 * std::pow(x / count, 0.667);
        };
        const auto bytes = as_floats(mirrored(rows, columns, random, value), 1);
        const auto norm = param_stats::norm_by_lanczos(matrix_of(bytes, float32, rows, columns), 1,
                                                       kDefault, kNever);
        ASSERT_TRUE(norm);
        EXPECT_NEAR(*norm, above, above * kDefault)
            << close << " values, " << above << ", " << rows << " x " << columns;
      }
    }
  }
}

TEST(Spectrum, NormsOfSidesBetween64And1024AreWithinTheDefaultToleranceToo) {
  // Slow decay, clusters of 1 to 20 values above the others, two clusters; tall, wide and square.
  const std::vector<std::function<double(double)>> kinds{
      [](double i) { return std::exp(-1e-2 * i); },
      [](double i) { return std::exp(-1e-4 * i); },
      [](double i) { return i < 5 ? 2 - 0.012 * i : 1 - 1e-4 * i; },
      [](double i) { return i < 20 ? 1.2 - 0.0018 * i : 1 - 1e-4 * i; },
      [](double i) { return 1 / std::sqrt(1 + i); },
      [](double i) { return i < 1 ? 1.05 : 1 - 1e-3 * i; },
      [](double i) { return i < 4    ? 10 - 0.01 * i
                            : i < 12 ? 9.9 - 0.02 * i
                                     : 1; }};
  const tmeter::DType float32(TMETER_DTYPE_FLOAT32);
  for (const auto& [rows, columns] :
       {std::pair{65, 65}, {65, 400}, {400, 66}, {70, 3000}, {128, 129}, {768, 300}}) {
    for (size_t k = 0; k < kinds.size(); ++k) {
      const auto value = [&](int64_t i) { return kinds[k](static_cast<double>(i)); };
      const auto bytes = as_floats(reflected(rows, columns, value), 1);
      const auto found = spectrum_of(matrix_of(bytes, float32, rows, columns));
      ASSERT_TRUE(found) << rows << " x " << columns << ", " << k;
      EXPECT_NEAR(found->norm, value(0), value(0) * kDefault)
          << rows << " x " << columns << ", " << k;
    }
  }
}

TEST(Spectrum, WeightsNearTheEndsOfFloatHaveANorm) {
  const tmeter::DType float32(TMETER_DTYPE_FLOAT32);
  const auto value = [](int64_t i) { return 5.0 / static_cast<double>(i + 1); };
  for (const float times : {0x1p+124f, 0x1p+60f, 0x1p-60f, 0x1p-110f}) {
    const auto bytes = as_floats(reflected(150, 130, value), times);
    const auto spectrum = spectrum_of(matrix_of(bytes, float32, 150, 130));
    ASSERT_TRUE(spectrum) << times;
    EXPECT_NEAR(spectrum->norm / static_cast<double>(times), 5, 1e-5) << times;
  }
}

TEST(Spectrum, TheNormIsFoundWhereSquaresExceedDoubles) {
  for (const auto& [rows, columns] : {std::pair{40, 50}, {150, 130}}) {
    for (const double times : {0x1p+1000, 0x1p-1000}) {
      const auto value = [times](int64_t i) { return times * 5.0 / static_cast<double>(i + 1); };
      const auto bytes = reflected(rows, columns, value);
      const auto spectrum = spectrum_of(matrix_of(bytes, kFloat64, rows, columns));
      ASSERT_TRUE(spectrum) << times;
      EXPECT_NEAR(spectrum->norm / times, 5, 5e-6) << times;
      double squares = 0;
      for (int i = 1; i <= std::min(rows, columns); ++i) squares += 1.0 / (i * i);
      EXPECT_NEAR(spectrum->stable_rank, squares, 1e-5) << times;
    }
  }
}

TEST(Spectrum, RanksDoNotDependOnTheScaleOfWeights) {
  // 30 values of 4 and 20 of 1: p = 4/140 and 1/140.
  const auto value = [](int64_t i) { return i < 30 ? 4.0 : i < 50 ? 1.0 : 0.0; };
  const double rank =
      std::exp(-30 * (4 / 140.) * std::log(4 / 140.) - 20 / 140. * std::log(1 / 140.));
  for (const float times : {1.f, 0x1p-60f, 0x1p-90f, 0x1p-110f, 0x1p+100f}) {
    const auto bytes = as_floats(reflected(50, 90, value), times);
    const auto a = matrix_of(bytes, tmeter::DType(TMETER_DTYPE_FLOAT32), 50, 90);
    const auto spectrum = param_stats::spectrum_by_gram(a, 1, kNever);
    EXPECT_NEAR(spectrum.norm / static_cast<double>(times), 4, 1e-5) << times;
    ASSERT_TRUE(spectrum.effective_rank);
    EXPECT_NEAR(*spectrum.effective_rank, rank, 1e-4 * rank) << times;
  }
}

TEST(Spectrum, RowsTooLongForBlocksHaveANormWhereTheyAreFew) {
  // 130 rows of 300,000: the first of twos, the others 0. |first| = 2 sqrt(300000).
  const int64_t rows = 130, columns = 300000;
  std::vector<float> a(static_cast<size_t>(rows * columns));
  std::fill_n(a.begin(), columns, 2.f);
  const auto bytes = stored_as<float>(a, [](float x) { return x; });
  const auto spectrum =
      spectrum_of(matrix_of(bytes, tmeter::DType(TMETER_DTYPE_FLOAT32), rows, columns));
  ASSERT_TRUE(spectrum);
  EXPECT_NEAR(spectrum->norm, 2 * std::sqrt(300000.), 1e-6);
}

TEST(Spectrum, RanksAreLimitedToTheRequestedSideAndNormsAreNot) {
  // 40 values of 3 and 60 of 1, the others 0: p = 3/180 and 1/180.
  const auto value = [](int64_t i) { return i < 40 ? 3.0 : i < 100 ? 1.0 : 0.0; };
  const double rank =
      std::exp(-40 * (3 / 180.) * std::log(3 / 180.) - 60 / 180. * std::log(1 / 180.));
  const auto doubles = reflected(150, 210, value);
  const auto floats = as_floats(doubles, 1);
  for (const auto& [id, bytes] :
       {std::pair{TMETER_DTYPE_FLOAT64, &doubles}, {TMETER_DTYPE_FLOAT32, &floats}}) {
    const auto a = matrix_of(*bytes, tmeter::DType(id), 150, 210);
    for (const int64_t side : {0, 64, 149}) {
      const auto spectrum = spectrum_of(a, {kDefault, side});
      ASSERT_TRUE(spectrum) << side;
      EXPECT_NEAR(spectrum->norm, 3, 3e-6) << side;
      EXPECT_NEAR(spectrum->stable_rank, (40 * 9 + 60) / 9., 1e-4) << side;
      EXPECT_FALSE(spectrum->effective_rank) << side;
    }
    for (const int64_t side : {150, 1024, 5000}) {
      const auto spectrum = spectrum_of(a, {kDefault, side});
      ASSERT_TRUE(spectrum && spectrum->effective_rank) << side;
      EXPECT_NEAR(spectrum->norm, 3, 3e-6) << side;
      EXPECT_NEAR(*spectrum->effective_rank, rank, 1e-4 * rank) << side;
    }
  }
}

TEST(Spectrum, EveryInstructionSetGivesTheSameDigits) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  for (const auto& [rows, columns] : {std::pair{37, 101}, {64, 64}, {90, 301}, {310, 77}}) {
    std::vector<float> a(static_cast<size_t>(rows * columns));
    for (auto& x : a) x = normal(random);
    const auto floats = stored_as<float>(a, [](float x) { return x; });
    const auto brains = stored_as<uint16_t>(
        a, [](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); });
    for (const auto& [id, bytes] :
         {std::pair{TMETER_DTYPE_FLOAT32, &floats}, {TMETER_DTYPE_BFLOAT16, &brains}}) {
      const auto matrix = matrix_of(*bytes, tmeter::DType(id), rows, columns);
      std::optional<param_stats::Spectrum> first;
      instruction_sets::each([&] {
        const auto found = spectrum_of(matrix);
        ASSERT_TRUE(found);
        if (!first) first = found;
        EXPECT_EQ(found->norm, first->norm);
        EXPECT_EQ(found->stable_rank, first->stable_rank);
        EXPECT_EQ(found->effective_rank, first->effective_rank);
      });
    }
  }
}

TEST(Spectrum, ElementsThatAreNotFiniteAreReported) {
  for (const float x :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> a(600, 1.f);
    a[299] = x;
    a[300] = 2;
    const auto bytes = stored_as<float>(a, [](float v) { return v; });
    const auto matrix = matrix_of(bytes, tmeter::DType(TMETER_DTYPE_FLOAT32), 20, 30);
    const auto result = param_stats::spectrum_of(matrix, {}, kNever);
    EXPECT_FALSE(result.finite);
    EXPECT_FALSE(result.spectrum);
  }
}

TEST(Spectrum, ZerosHaveANormOfZero) {
  const std::vector<uint8_t> bytes(sizeof(float) * 600);
  const auto spectrum = spectrum_of(matrix_of(bytes, tmeter::DType(TMETER_DTYPE_FLOAT32), 20, 30));
  ASSERT_TRUE(spectrum);
  EXPECT_EQ(spectrum->norm, 0);
  EXPECT_FALSE(spectrum->effective_rank);
}

TEST(Spectrum, CtrlCIsNoticed) {
  const std::vector<uint8_t> bytes(sizeof(double) * 40 * 50, 1);
  const auto a = matrix_of(bytes, kFloat64, 40, 50);
  const auto stop = [] { return true; };
  EXPECT_THROW(param_stats::spectrum_of(a, {}, stop), tmeter::Error);
  EXPECT_THROW(param_stats::spectrum_by_gram(a, 1, stop), tmeter::Error);
  EXPECT_THROW(param_stats::norm_by_lanczos(a, 1, kTightly, stop), tmeter::Error);
}

}  // namespace
