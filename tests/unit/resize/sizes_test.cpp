// Literal sizes of exported programs: their meaning for another input. The shapes are those of
// torchvision's ViT-B/16 and Swin-T and of tests/fixtures' BERT, derived by hand from their Python
// source.
#include "sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {
using namespace tmeter::resize;
using Shapes = std::vector<Sizes>;

TEST(Reshaped, NothingChanged) { EXPECT_EQ(reshaped({{2, 6}, {2, 6}}, {3, 4}), Shapes({{3, 4}})); }

TEST(Reshaped, EachDimFollowsItsOwn) {  // BERT: [batch, length, 256] → [batch, length, 4, 64]
  EXPECT_EQ(reshaped({{2, 32, 256}, {8, 128, 256}}, {2, 32, 4, 64}), Shapes({{8, 128, 4, 64}}));
}

TEST(Reshaped, MergedDimsAreMultiplied) {  // Swin: windows of all images in one dim
  EXPECT_EQ(reshaped({{1, 8, 8, 7, 7, 96}, {8, 8, 8, 7, 7, 96}}, {64, 49, 96}),
            Shapes({{512, 49, 96}}));
  EXPECT_EQ(reshaped({{1, 768, 14, 14}, {1, 768, 16, 16}}, {1, 768, 196}), Shapes({{1, 768, 256}}));
}

TEST(Reshaped, SplitDimGrowsOutside) {  // Swin: [batch * 64, …] → [batch, 8, 8, …]
  const auto shapes = reshaped({{64, 49, 96}, {512, 49, 96}}, {1, 8, 8, 7, 7, 96});
  ASSERT_FALSE(shapes.empty());
  EXPECT_EQ(shapes[0], Sizes({8, 8, 8, 7, 7, 96}));
}

TEST(Reshaped, ADimOfOneCanBelongToEitherNeighbour) {
  // ViT: [tokens, batch, 768] → [tokens, batch * 12, 64]: elements keep their places.
  const auto heads = reshaped({{197, 1, 768}, {197, 8, 768}}, {197, 12, 64});
  ASSERT_GE(heads.size(), 2U);
  EXPECT_EQ(heads[0], Sizes({197, 96, 64}));
  EXPECT_NE(std::find(heads.begin(), heads.end(), Sizes({1576, 12, 64})), heads.end());
  // [tokens, batch, 12, 64] → [tokens * batch, 768]: elements move, so it comes second.
  const auto merged = reshaped({{197, 1, 12, 64}, {197, 8, 12, 64}}, {197, 768});
  EXPECT_NE(std::find(merged.begin(), merged.end(), Sizes({1576, 768})), merged.end());
}

TEST(Reshaped, NoShapeWhenSizesDoNotDivide) {  // 8 windows of 7, or 7 of 8, in 60
  EXPECT_EQ(reshaped({{1, 56, 56, 96}, {1, 60, 60, 96}}, {1, 8, 7, 8, 7, 96}), Shapes());
}

TEST(Reshaped, OddShapesAreLeftAlone) {
  EXPECT_EQ(reshaped({{0, 3}, {2, 3}}, {3, 0}), Shapes());
  EXPECT_EQ(reshaped({{2, 3}, {2, 3, 1}}, {6}), Shapes());
  EXPECT_EQ(reshaped({{1}, {2}}, {}), Shapes());
  EXPECT_EQ(reshaped({Sizes(40, 1), Sizes(40, 1)}, {1}), Shapes());
}

TEST(Reshaped,
     SamplesHiddenInAMergedDim) {  // WavLM: [tokens, batch * 12, 64] → [tokens * batch, 768]
  const DimsChange merged{{49, 12, 64}, {49, 36, 64}};
  EXPECT_EQ(reshaped(merged, {49, 768}), Shapes({{49, 2304}}));
  const auto apart = with_samples_apart(merged, {1, 3});
  EXPECT_EQ(apart.recorded, Sizes({49, 1, 12, 64}));
  EXPECT_EQ(apart.now, Sizes({49, 3, 12, 64}));
  const auto shapes = reshaped(apart, {49, 768});
  EXPECT_NE(std::find(shapes.begin(), shapes.end(), Sizes({147, 768})), shapes.end());
  EXPECT_EQ(with_samples_apart({{2, 5}, {0, 5}}, {2, 0}).now, Sizes({0, 5}));
}

TEST(Explained,
     EveryChangeFollowsFromAKnownOne) {  // Transformer: [length * 2, 128] → [length, 2, 128]
  const auto shapes = reshaped({{20, 128}, {40, 128}}, {10, 2, 128});
  ASSERT_EQ(shapes, Shapes({{20, 2, 128}, {10, 4, 128}}));
  const SizeChanges longer{{10, 20}}, more{{2, 4}};
  EXPECT_TRUE(explained({10, 2, 128}, shapes[0], longer));
  EXPECT_FALSE(explained({10, 2, 128}, shapes[1], longer));
  EXPECT_FALSE(explained({10, 2, 128}, shapes[0], more));
  EXPECT_TRUE(explained({10, 2, 128}, shapes[1], more));
  EXPECT_FALSE(explained({10}, {10, 1}, {}));
}

TEST(Substituted, LiteralFirstThenAsFewAsPossible) {  // LSTM: zeros([layers, batch, hidden])
  EXPECT_EQ(substituted({2, 2, 256}, {true, true, true}, {{2, 8}}),
            Shapes({{2, 2, 256}, {8, 2, 256}, {2, 8, 256}, {8, 8, 256}}));
}

TEST(Substituted, ComputedSizesStay) {
  EXPECT_EQ(substituted({32, 32}, {false, true}, {{32, 128}}), Shapes({{32, 32}, {32, 128}}));
}

TEST(Substituted, IsBoundedForAnyFile) {
  EXPECT_LE(substituted(Sizes(60, 1), std::vector<bool>(60, true), {{1, 8}, {1, 9}}).size(), 64U);
}

}  // namespace
