// Paddings of exported programs: fixed, or TensorFlow's "same". The values follow from the formula
// in TensorFlow's documentation (tf.nn, "Notes on padding"), calculated by hand: total = max((⌈size
// / stride⌉ - 1) · stride + (kernel - 1) · dilation + 1 - size, 0).
#include "same_padding.hpp"

#include <gtest/gtest.h>

namespace {
using namespace tmeter::resize;

PaddedWindow window(const std::string& owner, int64_t size, int64_t kernel, int64_t stride, Pad pad,
                    bool by_node = true, bool in_one_module = true) {
  const WindowDim dim{size, kernel, stride, 1};
  return {owner, {dim, dim}, {pad, pad}, by_node, in_one_module};
}

/// The verdict on `padded` in a program that also has `others`.
std::pair<bool, bool> estimate(const PaddedWindow& padded,
                               const std::vector<PaddedWindow>& others = {}) {
  PaddingEvidence evidence;
  evidence.add(padded);
  for (const auto& w : others) evidence.add(w);
  const auto result = evidence.estimate(padded);
  return {result.kind == PaddingKind::kSame, result.sure};
}
constexpr std::pair kSurelySame{true, true}, kMaybeSame{true, false}, kSurelyFixed{false, true},
    kMaybeFixed{false, false};

TEST(SamePad, AnOddPadIsLargerAtTheEnd) {
  EXPECT_EQ(same_pad({224, 3, 2, 1}), (Pad{0, 1}));  // (112-1)·2 + 3 - 224 = 1
  EXPECT_EQ(same_pad({225, 3, 2, 1}), (Pad{1, 1}));  // (113-1)·2 + 3 - 225 = 2
  EXPECT_EQ(same_pad({56, 5, 2, 1}), (Pad{1, 2}));   // (28-1)·2 + 5 - 56 = 3
  EXPECT_EQ(same_pad({57, 5, 2, 1}), (Pad{2, 2}));   // (29-1)·2 + 5 - 57 = 4
  EXPECT_EQ(same_pad({14, 3, 1, 1}), (Pad{1, 1}));   // with stride 1: for any size
  EXPECT_EQ(same_pad({14, 3, 1, 2}), (Pad{2, 2}));   // (14-1) + 2·2 + 1 - 14 = 4
}

TEST(SamePad, NoPaddingWhereStridesReachTheEnd) {
  EXPECT_EQ(same_pad({224, 16, 16, 1}), Pad{});
  EXPECT_EQ(same_pad({225, 1, 2, 1}), Pad{});          // (113-1)·2 + 1 - 225 = 0
  EXPECT_EQ(same_pad({230, 16, 16, 1}), (Pad{5, 5}));  // (15-1)·16 + 16 - 230 = 10
}

TEST(PaddingEvidence,
     ModulesNamedAfterSamePaddingUseIt) {  // timm's Conv2dSame, Lukemelas' Conv2dDynamicSamePadding
  EXPECT_EQ(estimate(window("timm.layers.conv2d_same.Conv2dSame", 224, 3, 2, {0, 1})), kSurelySame);
  EXPECT_EQ(estimate(window("x.Conv2dDynamicSamePadding", 224, 2, 2, {}, false)), kSurelySame);
  EXPECT_EQ(estimate(window("same.padding.Conv", 224, 2, 2, {}, false)), kSurelyFixed);
}

TEST(PaddingEvidence, PaddingThatDiffersFromSameIsFixed) {
  EXPECT_EQ(estimate(window("a.B", 224, 3, 2, {1, 1})), kSurelyFixed);
  EXPECT_EQ(estimate(window("a.Same", 224, 3, 2, {1, 0})), kSurelyFixed);
}

TEST(PaddingEvidence, ModulesOfTorchHaveFixedPadding) {  // of 225, 3×3 with stride 2, padding 1
  EXPECT_EQ(estimate(window("torch.nn.modules.conv.Conv2d", 225, 3, 2, {1, 1}, false)),
            kSurelyFixed);
  EXPECT_EQ(estimate(window("torch.nn.modules.padding.ZeroPad2d", 224, 3, 2, {0, 1}, true, false)),
            kSurelyFixed);
}

TEST(PaddingEvidence, AnotherPaddingOfTheSameCodeShowsThatItIsFixed) {
  EXPECT_EQ(estimate(window("a.Down", 225, 3, 2, {1, 1}), {window("a.Down", 112, 3, 2, {1, 1})}),
            kSurelyFixed);
}

TEST(PaddingEvidence, OnePaddingPerSizeShowsThatItIsSame) {
  EXPECT_EQ(estimate(window("a.Down", 225, 3, 2, {1, 1}), {window("a.Down", 112, 3, 2, {0, 1})}),
            kSurelySame);
  EXPECT_EQ(estimate(window("a.Down", 225, 3, 2, {1, 1}), {window("a.Else", 112, 3, 2, {0, 1})}),
            kMaybeFixed);
}

TEST(PaddingEvidence, OnePaddingPerKernelIsLikelySame) {  // transformers' MobileNetV2ConvLayer
  const auto first = window("m.ConvLayer", 224, 3, 2, {0, 1}, true, false);
  EXPECT_EQ(estimate(first, {window("m.ConvLayer", 112, 1, 1, {}, true, false)}), kMaybeSame);
  EXPECT_EQ(estimate(first), kMaybeFixed);  // the downsampling of Stable Diffusion's autoencoder
}

TEST(PaddingEvidence, ALopsidedPadOfAConvolutionsOwnIsLikelySame) {
  EXPECT_EQ(estimate(window("a.Conv", 224, 3, 2, {0, 1})), kMaybeSame);
  EXPECT_EQ(estimate(window("a.Conv", 225, 3, 2, {1, 1})), kMaybeFixed);
}

TEST(PaddingEvidence, AnEmptyPadIsLikelySame) {
  EXPECT_EQ(estimate(window("a.Embed", 224, 16, 16, {}, true, false)), kMaybeSame);
}

TEST(PaddingEvidence, MissingPaddingIsFixedUnlessTheCodePadsElsewhere) {
  const auto bare = window("a.Conv", 224, 2, 2, {}, false);
  EXPECT_EQ(estimate(bare), kSurelyFixed);
  const auto odd = window("a.Conv", 225, 3, 2, {1, 1}), even = window("a.Conv", 112, 3, 2, {0, 1});
  EXPECT_EQ(estimate(bare, {odd, even}), kMaybeSame);
  EXPECT_EQ(estimate(bare, {odd, even, window("a.Conv", 224, 3, 1, {}, false)}), kMaybeFixed);
}

}  // namespace
