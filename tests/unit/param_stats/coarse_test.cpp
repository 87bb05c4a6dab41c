// A matrix as bytes: products near those of the numbers, and norms that are known by construction.
#include "plugins/metrics/param_stats/coarse.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "tests/unit/instruction_sets.hpp"

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using param_stats::Coarse;
using param_stats::Matrix;

const std::function<bool()> kGoOn = [] { return false; };
constexpr double kWithin = 1e-3;

/// As float32, or as bfloat16, for which the numbers are rounded first.
struct Stored {
  Stored(const Rows& numbers, bool brain = false) : floats(numbers.cast<float>()) {
    if (brain) {
      for (auto& x : floats.reshaped()) {
        const auto bits = (std::bit_cast<uint32_t>(x) + 0x8000u) & 0xffff0000u;
        x = std::bit_cast<float>(bits);
      }
      for (const float x : floats.reshaped<Eigen::RowMajor>())
        halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
    }
    const auto* data = brain ? reinterpret_cast<const uint8_t*>(halves.data())
                             : reinterpret_cast<const uint8_t*>(floats.data());
    const size_t size = brain ? 2 : 4;
    bytes = {data, static_cast<size_t>(floats.size()) * size};
    type = tmeter::DType(brain ? TMETER_DTYPE_BFLOAT16 : TMETER_DTYPE_FLOAT32);
  }
  Matrix matrix() {
    return {floats.rows(), floats.cols(), type,
            [this](int64_t first, int64_t count) {
              read += count;
              const auto size = static_cast<size_t>(type.bytes());
              return bytes.subspan(static_cast<size_t>(first) * size,
                                   static_cast<size_t>(count) * size);
            },
            static_cast<double>(floats.cwiseAbs().maxCoeff())};
  }
  /// How often each number was read.
  double walks() const { return static_cast<double>(read) / static_cast<double>(floats.size()); }

  Floats floats;
  std::vector<uint16_t> halves;
  std::span<const uint8_t> bytes;
  tmeter::DType type{TMETER_DTYPE_FLOAT32};
  int64_t read = 0;
};

Rows random_numbers(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  Rows a(rows, columns);
  for (auto& x : a.reshaped<Eigen::RowMajor>())
    for (int i = x = 0; i < 4; ++i) x += static_cast<double>(random()) * 0x1p-32 - 0.5;
  return a;
}

/// x times an orthogonal matrix of sides a power of two: signs, then Hadamard's.
void mix_columns(Rows& x, std::mt19937& random) {
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    if (random() & 1) x.col(j) *= -1;
  for (Eigen::Index half = 1; half < x.cols(); half *= 2) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      if (j & half) continue;
      const Eigen::VectorXd a = x.col(j), b = x.col(j + half);
      x.col(j) = a + b;
      x.col(j + half) = a - b;
    }
  }
  x /= std::sqrt(static_cast<double>(x.cols()));
}

/// U D V^T with the singular values of D, every one of them in all numbers.
Rows spread(int64_t rows, int64_t columns, const std::function<double(double)>& value) {
  std::mt19937 random(3);
  Rows a = Rows::Zero(rows, columns);
  const auto side = std::min(rows, columns);
  for (int64_t i = 0; i < side; ++i)
    a(i, i) = value(static_cast<double>(i) / static_cast<double>(side));
  for (int again = 0; again < 2; ++again) {
    mix_columns(a, random);
    Rows turned = a.transpose();
    mix_columns(turned, random);
    a = turned.transpose();
  }
  return a;
}

TEST(Coarse, AProductIsNearThatOfTheNumbers) {
  for (const auto& [rows, columns] : {std::pair{512, 512}, {513, 600}, {1030, 515}, {515, 3001}}) {
    for (const bool brain : {false, true}) {
      Rows numbers = random_numbers(rows, columns, 5);
      numbers.row(3).setZero();
      numbers.row(7) *= 1e-6;
      numbers.row(200) *= 3;
      Stored a(numbers, brain);
      const auto matrix = a.matrix();
      param_stats::BlockProduct product(matrix, kGoOn);
      const auto coarse = Coarse::of(product);
      if (!coarse) GTEST_SKIP() << "no instructions for it here";
      const auto length = static_cast<size_t>(columns);
      param_stats::Vectors v(length), exact(length), found(length);
      param_stats::fill_at_random(v);
      product.apply(v, exact);
      coarse->apply(v, found);
      // Both roundings of vectors, of steps of about 1/40 of what numbers are on average, and the
      // matrix's: two parts in a hundred together.
      const double off = static_cast<double>((found.matrix() - exact.matrix()).norm());
      EXPECT_LT(off, 0.04 * static_cast<double>(exact.matrix().norm())) << rows << " x " << columns;
      EXPECT_GT(off, 0);
    }
  }
}

TEST(Coarse, WhatRoundingAddsIsAsLargeAsSaid) {
  // A row of equal numbers loses nothing; beside one that is larger each is rounded up or down at
  // random, so that no pattern of theirs adds up: 600 steps of 0.4 in a row would be lost then.
  Rows numbers = Rows::Constant(800, 600, 0.4 / 127);
  numbers.col(0).setConstant(1);
  Stored a(numbers);
  const auto matrix = a.matrix();
  param_stats::BlockProduct product(matrix, kGoOn);
  const auto coarse = Coarse::of(product);
  if (!coarse) GTEST_SKIP() << "no instructions for it here";
  // A step is 1/127, and a sixth of its square the variance: (sqrt 800 + sqrt 600) / 127 / sqrt 6.
  EXPECT_NEAR(coarse->noise(), (std::sqrt(800.) + std::sqrt(600.)) / 127 / std::sqrt(6.), 1e-3);
  param_stats::Vectors v(600), exact(600), found(600);
  v.resize(param_stats::kBlockVectors);
  v.clear();
  v.matrix().topRows(600).setConstant(1);
  v.matrix().row(0).setZero();
  product.apply(v, exact);
  coarse->apply(v, found);
  // Without the first column: 599 numbers of 0.4 steps, of a standard deviation of half a step.
  const double size = 599 * 0.4 / 127, off = std::sqrt(599.) * 0.5 / 127;
  for (int j = 1; j < 600; ++j)
    EXPECT_NEAR(static_cast<double>(found.matrix()(j, 0)), 800 * size * 0.4 / 127,
                800 * off * 0.4 / 127 + 5 * std::sqrt(800.) * size * 0.5 / 127);
}

TEST(Coarse, TheFiguresAreTheSameWhereThereIsNoMemoryForACopy) {
  // Two copies of 32 MiB are all there is memory for.
  const std::vector<uint8_t> zeros(size_t{2} << 25);
  const Matrix large{2048, 16384, tmeter::DType(TMETER_DTYPE_BFLOAT16),
                     [&](int64_t, int64_t count) {
                       return std::span(zeros).first(static_cast<size_t>(count) * 2);
                     },
                     1.};
  param_stats::BlockProduct of_zeros(large, kGoOn);
  for (const bool brain : {false, true}) {
    Stored a(random_numbers(531, 617, 6), brain);
    const auto matrix = a.matrix();
    const auto before = param_stats::norm_by_blocks(matrix, kWithin, kGoOn);
    const double walks = a.walks();
    const auto first = Coarse::of(of_zeros), second = Coarse::of(of_zeros);
    if (!first || !second) GTEST_SKIP() << "no instructions for it here";
    const auto without = param_stats::norm_by_blocks(matrix, kWithin, kGoOn);
    EXPECT_GT(a.walks(), 3 * walks);  // for each product they are read again
    ASSERT_TRUE(before && without);
    EXPECT_EQ(*before, *without);
  }
}

TEST(Coarse, NormsOfMatricesWithoutAGapAreKnownAfterFewWalks) {
  const std::vector<std::function<double(double)>> kinds{
      [](double x) { return 1 - 0.5 * std::pow(x, 0.667); },  // as random numbers have them
      [](double x) { return 1 - 0.9 * x; }, [](double x) { return std::exp(-3 * x); },
      [](double x) { return 1 / (1 + x); }};
  for (const auto& [rows, columns] : {std::pair{512, 1024}, {1024, 512}}) {
    for (size_t k = 0; k < kinds.size(); ++k) {
      // What bfloat16 rounds is no more than 2^-9 of each number, as good as at random.
      Stored a(spread(rows, columns, kinds[k]), k % 2 == 0);
      instruction_sets::each([&, rows = rows, columns = columns] {
        a.read = 0;
        const auto norm = param_stats::norm_by_blocks(a.matrix(), kWithin, kGoOn);
        ASSERT_TRUE(norm);
        EXPECT_NEAR(*norm, 1, kWithin) << rows << " x " << columns << ", kind " << k;
        if (k == 0 && param_stats::coarse_kernels()) {
          EXPECT_LT(a.walks(), 7);
        }
      });
    }
  }
}

TEST(Coarse, WhatBytesCannotHoldIsFoundWithoutThem) {
  // A number in each row that is a thousand times the others, which have no gap: what rounding adds
  // is more than they are. The norm by Eigen, in double.
  Rows numbers = random_numbers(520, 520, 8);
  for (int i = 0; i < 520; ++i) numbers(i, (i * 7) % 520) = 500 + i % 11 * 0.1;
  Stored a(numbers);
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(a.floats.cast<double>());
  const auto norm = param_stats::norm_by_blocks(a.matrix(), kWithin, kGoOn);
  ASSERT_TRUE(norm);
  EXPECT_NEAR(*norm, svd.singularValues()[0], kWithin * svd.singularValues()[0]);
}

TEST(Coarse, CtrlCIsHeard) {
  Stored a(random_numbers(520, 520, 9));
  const auto matrix = a.matrix();
  bool stopped = false;
  const std::function<bool()> stop = [&] { return stopped; };
  param_stats::BlockProduct product(matrix, stop);
  const auto coarse = Coarse::of(product);
  if (!coarse) GTEST_SKIP() << "no instructions for it here";
  param_stats::Vectors v(520), y(520);
  param_stats::fill_at_random(v);
  stopped = true;
  EXPECT_THROW(coarse->apply(v, y), tmeter::Error);
}

}  // namespace
