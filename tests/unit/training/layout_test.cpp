// Whether a reshape is a view: the strides are those that torch 2.15 reports for the same tensors.
#include "layout.hpp"

#include <gtest/gtest.h>

#include "gradients.hpp"

namespace {

using training::Dims;

TEST(Layout, ViewOfContiguous) {
  EXPECT_EQ(training::view_strides(Dims{2, 3, 4}, Dims{12, 4, 1}, Dims{6, 4}), (Dims{4, 1}));
  EXPECT_EQ(training::view_strides(Dims{2, 12}, Dims{12, 1}, Dims{2, 3, 4}), (Dims{12, 4, 1}));
}

TEST(Layout, TransposedHeadsHaveToBeCopied) {
  // torch.empty(2, 10, 4, 8).transpose(1, 2).view(8, 10, 8) fails; for a batch of one it does not.
  EXPECT_EQ(training::view_strides(Dims{2, 4, 10, 8}, Dims{320, 8, 32, 1}, Dims{8, 10, 8}),
            std::nullopt);
  EXPECT_EQ(training::view_strides(Dims{1, 4, 10, 8}, Dims{320, 8, 32, 1}, Dims{4, 10, 8}),
            (Dims{8, 32, 1}));
}

TEST(Layout, ExpandedDimsHaveToBeCopied) {
  EXPECT_EQ(training::view_strides(Dims{2, 3, 4}, Dims{0, 4, 1}, Dims{6, 4}), std::nullopt);
}

TEST(Layout, EmptyAndScalar) {
  EXPECT_EQ(training::view_strides(Dims{0, 4}, Dims{4, 1}, Dims{2, 0}), (Dims{1, 1}));
  EXPECT_EQ(training::view_strides(Dims{}, Dims{}, Dims{1, 1}), (Dims{1, 1}));
}

TEST(Layout, ChannelsLast) {
  EXPECT_EQ(training::channels_last_strides(Dims{2, 3, 4, 5}), (Dims{60, 1, 15, 3}));
  EXPECT_TRUE(training::is_channels_last(Dims{2, 3, 4, 5}, Dims{60, 1, 15, 3}));
  EXPECT_FALSE(training::is_contiguous(Dims{2, 3, 4, 5}, Dims{60, 1, 15, 3}));
}

TEST(Layout, ElementwiseResultsKeepTheOrderOfDims) {
  EXPECT_EQ(training::strides_like(Dims{2, 4, 10, 8}, Dims{320, 8, 32, 1}), (Dims{320, 8, 32, 1}));
  // A slice has gaps, its copy has none.
  EXPECT_EQ(training::strides_like(Dims{2, 4}, Dims{100, 1}), (Dims{4, 1}));
}

TEST(Layout, HugeShapesDoNotOverflow) {
  EXPECT_EQ(training::contiguous_strides(Dims{1 << 30, 1 << 30, 1 << 30, 1 << 30}).back(), 1);
}

TEST(Einsum, OperandsAsMatrices) {
  const Dims q{2, 4, 10, 8}, strides{320, 80, 8, 1};
  const auto m = training::einsum_matrices("bhid, bhjd -> bhij", {q, strides}, {q, strides});
  ASSERT_TRUE(m);
  EXPECT_EQ(m->first.to, (Dims{8, 10, 8}));
  EXPECT_EQ(m->second.shape, (Dims{2, 4, 8, 10}));  // summed dims before its own
  EXPECT_EQ(m->second.to, (Dims{8, 8, 10}));
}

TEST(Einsum, NothingSummedIsElementwise) {
  const Dims a{3, 4}, strides{4, 1};
  EXPECT_FALSE(training::einsum_matrices("ij,ij->ij", {a, strides}, {a, strides}));
  EXPECT_FALSE(training::einsum_matrices("...i,ij->...j", {a, strides}, {a, strides}));
  EXPECT_FALSE(training::einsum_matrices("ii,ij->j", {a, strides}, {a, strides}));
  // The operands of another call have other ranks.
  EXPECT_FALSE(training::einsum_matrices("ijk,ij->k", {a, strides}, {a, strides}));
}

TEST(Frozen, Patterns) {
  EXPECT_TRUE(training::matches("layer*", "layer1.0.conv1.weight"));
  EXPECT_TRUE(training::matches("*.attn.*", "blocks.0.attn.qkv.weight"));
  EXPECT_TRUE(training::matches("layer?.0.*", "layer1.0.bn1.bias"));
  EXPECT_FALSE(training::matches("layer", "layer1.0"));
  EXPECT_FALSE(training::matches("", "x"));
  EXPECT_TRUE(training::matches("**", ""));
}

}  // namespace
