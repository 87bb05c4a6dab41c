// Batch norms folded into weights, element by element; for whole layers see
// tests/cli/test_fusion_advice.py.
#include "plugins/advice/fusion/fold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using fusion::fold_bias;
using fusion::fold_weights;
using fusion::FoldError;
using fusion::Norm;
using tmeter::DType;

const DType kFloat(TMETER_DTYPE_FLOAT32), kHalf(TMETER_DTYPE_FLOAT16),
    kBrain(TMETER_DTYPE_BFLOAT16);

/// γ / √(σ² + ε) is `factor` for both channels.
Norm norm_of(double factor) { return {{0, 0}, {1, 1}, {factor, factor}, {0, 0}, 0}; }

FoldError folded(std::vector<double> weights, double factor, DType type) {
  FoldError error;
  fold_weights(weights, 0, 1, 2, norm_of(factor), type, error);
  return error;
}

TEST(Fold, PowersOfTwoHaveNoError) {
  const auto error = folded({1, -3}, 2, kFloat);
  EXPECT_EQ(error.absolute, 0);
  EXPECT_EQ(error.largest, 6);
  EXPECT_EQ(error.relative(), 0);
}

/// From 1 to 2 the steps of bfloat16 are 2^-7, those of float16 2^-10.
TEST(Fold, RoundsToTheTypeOfTheWeights) {
  EXPECT_EQ(folded({1 + std::ldexp(1, -9), 0}, 1, kBrain).absolute, std::ldexp(1, -9));
  EXPECT_EQ(folded({1 + std::ldexp(1, -8), 0}, 1, kBrain).absolute,
            std::ldexp(1, -8));  // tie, to even
  EXPECT_EQ(folded({1 + std::ldexp(1, -9), 0}, 1, kHalf).absolute, 0);
  EXPECT_EQ(folded({1 + std::ldexp(1, -11), 0}, 1, kHalf).absolute, std::ldexp(1, -11));
  EXPECT_EQ(folded({std::ldexp(1, -25), 0}, 1, kHalf).absolute,
            std::ldexp(1, -25));  // below all subnormals
}

TEST(Fold, AnOverflowOfTheTypeIsReported) {
  EXPECT_FALSE(folded({65504, 0}, 1, kHalf).overflows);
  EXPECT_FALSE(folded({65519, 0}, 1, kHalf).overflows);  // rounds down
  EXPECT_TRUE(folded({65520, 0}, 1, kHalf).overflows);
  EXPECT_FALSE(folded({65520, 0}, 1, kBrain).overflows);
  EXPECT_TRUE(folded({1e30, 0}, 1e30, kFloat).overflows);
}

TEST(Fold, NonFiniteWeightsAreNotAnOverflow) {
  const auto error = folded({std::numeric_limits<double>::infinity(), 1}, 1, kFloat);
  EXPECT_FALSE(error.overflows);
  EXPECT_EQ(error.largest, 1);
}

TEST(Fold, ANegativeVarianceIsReported) {
  FoldError error;
  Norm norm = norm_of(1);
  norm.variance[1] = -1;
  fold_weights(std::vector<double>{1, 1}, 0, 1, 2, norm, kFloat, error);
  EXPECT_TRUE(error.overflows);
}

/// Elements 2 and 3 of a tensor with two elements per channel belong to channel 1.
TEST(Fold, ChannelsFollowFromThePositionsOfElements) {
  FoldError error;
  Norm norm = norm_of(1);
  norm.scale = {1, 4};
  fold_weights(std::vector<double>{1, 1}, 2, 2, 2, norm, kFloat, error);
  EXPECT_EQ(error.largest, 4);
  fold_weights(std::vector<double>{8}, 4, 2, 2, norm, kFloat, error);  // channel 0 again
  EXPECT_EQ(error.largest, 8);
}

/// (b - 3) · 2 + 1, without a bias -5.
TEST(Fold, TheBias) {
  Norm norm{{3}, {0.25}, {1}, {1}, 0};
  FoldError none, some;
  fold_bias({}, norm, kFloat, none);
  EXPECT_EQ(none.largest, 5);
  EXPECT_EQ(none.absolute, 0);
  fold_bias(std::vector<double>{7}, norm, kFloat, some);
  EXPECT_EQ(some.largest, 9);
}

}  // namespace
