// Attention in all its forms: MACs and other arithmetic, by hand after docs/conventions.md.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::Dims;
using fake::Op;
using fake::op;

constexpr const char* kHeadsFirst[] = {"aten::scaled_dot_product_attention",
                                       "aten::_scaled_dot_product_attention_math",
                                       "aten::_scaled_dot_product_attention_math_for_mps",
                                       "aten::_scaled_dot_product_flash_attention",
                                       "aten::_scaled_dot_product_flash_attention_for_cpu",
                                       "aten::_scaled_dot_product_efficient_attention",
                                       "aten::_scaled_dot_product_cudnn_attention",
                                       "aten::_scaled_dot_product_fused_attention_overrideable",
                                       "aten::_triton_scaled_dot_attention",
                                       "aten::_cudnn_attention_forward",
                                       "aten::_cudnn_attention_forward_no_dropout_inplace",
                                       "higher_order::flex_attention"};

/// 2 × 6 heads, 5 queries of width 8, 7 keys, values of width 4.
Op heads_first(const char* name) {
  auto n = op(name).tensor("query", {2, 6, 5, 8}).tensor("key", {2, 6, 7, 8});
  return n.tensor("value", {2, 6, 7, 4}).out({2, 6, 5, 4});
}

TEST(Attention, HeadsFirst) {
  constexpr int64_t kScores = 12 * 5 * 7;
  for (const auto name : kHeadsFirst) {
    EXPECT_EQ(heads_first(name).count("macs"), kScores * (8 + 4)) << name;
    EXPECT_EQ(heads_first(name).count("other_flops"), kScores * 6) << name;
    for (const auto mask : {"attn_mask", "attn_bias", "bias"})
      EXPECT_EQ(heads_first(name).tensor(mask, {5, 7}).count("other_flops"), kScores * 7) << name;
  }
}

TEST(Attention, ShortArgumentNames) {
  auto n = op("aten::_triton_scaled_dot_attention").tensor("q", {3, 5, 8}).tensor("k", {3, 7, 8});
  EXPECT_EQ(n.tensor("v", {3, 7, 8}).out({3, 5, 8}).count("macs"), 3 * 5 * 7 * 16);
}

TEST(Attention, OfInputsWithOneDimIsUnknown) {
  auto n = op("aten::scaled_dot_product_attention").tensor("query", {8}).tensor("key", {7, 8});
  EXPECT_EQ(n.tensor("value", {7, 8}).out({8}).count("macs"), std::nullopt);
  auto least = op("aten::scaled_dot_product_attention").tensor("query", {5, 8});
  EXPECT_EQ(least.tensor("key", {7, 8}).tensor("value", {7, 8}).out({5, 8}).count("macs"),
            5 * 7 * 16);
}

/// [batch, length, heads, width]: 2 × 3 heads, 5 queries, 7 keys.
Op length_first(const char* name) {
  auto n = op(name).tensor("query", {2, 5, 3, 8}).tensor("key", {2, 7, 3, 8});
  return n.tensor("value", {2, 7, 3, 4}).out({2, 5, 3, 4});
}

constexpr const char* kLengthFirst[] = {"aten::_flash_attention_forward",
                                        "aten::_flash_attention_forward_no_dropout_inplace",
                                        "aten::_efficient_attention_forward"};

TEST(Attention, LengthFirst) {
  for (const auto name : kLengthFirst) {
    EXPECT_EQ(length_first(name).count("macs"), 6 * 5 * 7 * 12) << name;
    EXPECT_EQ(length_first(name).count("other_flops"), 6 * 5 * 7 * 6) << name;
  }
}

/// Two sequences end to end; each counts as long as the longer one.
TEST(Attention, PackedSequences) {
  const auto packed = [](const char* name, const char* offsets, const char* q, const char* k) {
    auto n = op(name).tensor("query", {11, 3, 8}).tensor("key", {13, 3, 8});
    n.tensor("value", {13, 3, 4}).tensor(offsets, {3}).number(q, 6).number(k, 9);
    return n.out({11, 3, 4}).count("macs");
  };
  for (const auto name : {kLengthFirst[0], kLengthFirst[1]})
    EXPECT_EQ(packed(name, "cum_seq_q", "max_q", "max_k"), 2 * 3 * 6 * 9 * 12) << name;
  EXPECT_EQ(packed(kLengthFirst[2], "cu_seqlens_q", "max_seqlen_q", "max_seqlen_k"),
            2 * 3 * 6 * 9 * 12);
}

// --- whole layers -------------------------------------------------------------------------------

/// 4 heads of width 4, 2 × 5 queries, 2 × 7 keys.
Op multi_head(const char* name) {
  auto n = op(name).tensor("query", {2, 5, 16}).tensor("key", {2, 7, 16});
  return n.number("embed_dim", 16).number("num_head", 4).out({2, 5, 16});
}

TEST(Attention, MultiHeadInOneOperator) {
  constexpr int64_t kTokens = 10 + 14 + 14 + 10, kScores = 8 * 5 * 7;
  for (const auto name :
       {"aten::_native_multi_head_attention", "aten::_triton_multi_head_attention"}) {
    EXPECT_EQ(multi_head(name).count("macs"), kTokens * 256 + kScores * (4 + 4)) << name;
    EXPECT_EQ(multi_head(name).count("other_flops"), kTokens * 16 + kScores * 6) << name;
    EXPECT_EQ(multi_head(name).tensor("mask", {5, 7}).count("other_flops"),
              kTokens * 16 + kScores * 7)
        << name;
  }
}

TEST(Attention, ImpossibleMultiHeadIsUnknown) {
  const auto of = [](const Dims& query, const Dims& key, int64_t heads) {
    auto n = op("aten::_native_multi_head_attention").tensor("query", query).tensor("key", key);
    return n.number("embed_dim", 16).number("num_head", heads).out(query).count("macs");
  };
  EXPECT_EQ(of({5, 16}, {2, 5, 16}, 4), std::nullopt);
  EXPECT_EQ(of({2, 5, 16}, {5, 16}, 4), std::nullopt);
  EXPECT_EQ(of({2, 5, 16}, {2, 5, 16}, 0), std::nullopt);
  EXPECT_EQ(of({1, 1, 16}, {1, 1, 16}, 1), 4 * 256 + 32);
  auto n = op("aten::_native_multi_head_attention").tensor("query", {1, 1, 16});
  EXPECT_EQ(n.tensor("key", {1, 1, 16}).number("embed_dim", 16).count("macs"), 4 * 256 + 32);
}

TEST(Attention, EncoderLayerInOneOperator) {
  const auto layer = [] {
    auto n = op("aten::_transformer_encoder_layer_fwd").tensor("src", {2, 5, 16});
    n.number("embed_dim", 16).number("num_heads", 4).tensor("ffn_weight_1", {32, 16});
    return n.tensor("ffn_weight_2", {16, 32}).out({2, 5, 16});
  };
  // 40 biases of 16, 8 · 5 · 5 scores, two norms of 8 operations, two residuals, the second bias.
  constexpr int64_t kOther = 40 * 16 + 200 * 6 + 10 * 16 * (16 + 2 + 1);
  EXPECT_EQ(layer().count("other_flops"), kOther + 10 * 32 * (1 + 1));  // relu and the first bias
  EXPECT_EQ(layer().flag("use_gelu").count("other_flops"), kOther + 10 * 32 * (1 + 5));
  EXPECT_EQ(layer().tensor("mask", {5, 5}).count("other_flops"), kOther + 200 + 10 * 32 * 2);
}

TEST(Attention, BiasAndScaleBeforeAttention) {
  const auto n =
      op("aten::_transform_bias_rescale_qkv").tensor("qkv", {2, 5, 48}).out({3, 2, 5, 16});
  EXPECT_EQ(n.count("other_flops"), 480 + 160);  // a bias for all, a scale for q
}

// --- causal -------------------------------------------------------------------------------------

/// 3 queries, 5 keys: top left leaves 1 + 2 + 3 of 15 scores, bottom right 3 + 4 + 5.
TEST(Attention, TheMaskTypeOfTheEfficientKernelIsRead) {
  const auto halved = [](int64_t type) {
    auto n = op("aten::_efficient_attention_forward").tensor("query", {1, 3, 1, 1});
    n.tensor("key", {1, 5, 1, 1}).tensor("value", {1, 5, 1, 1}).out({1, 3, 1, 1});
    return n.number("custom_mask_type", type).count("flops", "torchvision half");
  };
  EXPECT_EQ(halved(0), 2 * 15);
  EXPECT_EQ(halved(1), 2 * 6);
  EXPECT_EQ(halved(2), 2 * 12);
}

TEST(Attention, WithoutAMaskNothingIsHalved) {
  EXPECT_EQ(heads_first("aten::scaled_dot_product_attention").count("flops", "torchvision half"),
            12 * 5 * 7 * 12);
}

TEST(Attention, EmptyAttentionIsZeroWhenHalved) {
  auto n = op("aten::scaled_dot_product_attention").tensor("query", {1, 0, 8});
  n.tensor("key", {1, 7, 8}).tensor("value", {1, 7, 8}).flag("is_causal").out({1, 0, 8});
  EXPECT_EQ(n.count("flops", "torchvision half"), 0);
  auto k = op("aten::scaled_dot_product_attention").tensor("query", {1, 7, 8});
  k.tensor("key", {1, 0, 8}).tensor("value", {1, 0, 8}).flag("is_causal").out({1, 7, 8});
  EXPECT_EQ(k.count("flops", "torchvision half"), 0);
}

}  // namespace
