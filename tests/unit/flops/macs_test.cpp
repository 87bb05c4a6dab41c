// MACs of operators and argument forms that are rare in exported models. Counts marked FCM are
// half of those of torch.utils.flop_counter.FlopCounterMode 2.15 for the same call.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::op;

TEST(Macs, ConvolutionWithoutBatch) {
  EXPECT_EQ(op("aten::conv2d")
                .tensor("input", {6, 10, 11})
                .tensor("weight", {4, 6, 3, 3})
                .out({4, 8, 9})
                .count("macs"),
            15552);  // FCM
}

TEST(Macs, TransposedConvolutionCountsInputPositions) {
  auto n = op("aten::convolution")
               .tensor("input", {2, 6, 5, 7})
               .tensor("weight", {6, 4, 3, 3})
               .out({2, 4, 11, 15});
  n.flag("transposed");
  EXPECT_EQ(n.count("macs"), 15120);  // FCM
  EXPECT_EQ(op("aten::conv_transpose1d")
                .tensor("input", {6, 9})
                .tensor("weight", {6, 4, 3})
                .out({4, 27})
                .count("macs"),
            648);  // FCM
}

TEST(Macs, ConvolutionWithoutItsWeightIsUnknown) {
  EXPECT_EQ(op("aten::conv2d").tensor("input", {1, 3, 8, 8}).out({1, 4, 8, 8}).count("macs"),
            std::nullopt);
  EXPECT_EQ(op("quantized::conv2d.new").tensor("qx", {1, 3, 8, 8}).out({1, 4, 8, 8}).count("macs"),
            std::nullopt);
}

TEST(Macs, PackedLinearNeedsNoWeight) {
  EXPECT_EQ(op("quantized::linear").tensor("X", {5, 16}).out({5, 10}).count("macs"), 800);
}

TEST(Macs, MatmulOfAnyRanks) {
  const auto matmul = [](fake::Dims a, fake::Dims b, fake::Dims out) {
    return op("aten::matmul").tensor("self", a).tensor("other", b).out(out).count("macs");
  };
  EXPECT_EQ(matmul({2, 1, 3, 4}, {5, 4, 6}, {2, 5, 3, 6}), 720);  // FCM
  EXPECT_EQ(matmul({4}, {4, 6}, {6}), 24);                        // FCM
  EXPECT_EQ(matmul({2, 3, 4}, {4}, {2, 3}), 24);                  // FCM has no formula for mv
  EXPECT_EQ(matmul({4}, {4}, {}), 4);
}

TEST(Macs, AddbmmContractsTheBatch) {
  EXPECT_EQ(op("aten::addbmm")
                .tensor("self", {3, 5})
                .tensor("batch1", {2, 3, 4})
                .tensor("batch2", {2, 4, 5})
                .out({3, 5})
                .count("macs"),
            120);
}

TEST(Macs, ChainIsMultipliedInTheCheapestOrder) {
  const auto chain = op("aten::linalg_multi_dot")
                         .tensors("tensors", {{10, 3}, {3, 40}, {40, 4}, {4, 9}})
                         .out({10, 9});
  EXPECT_EQ(chain.count("macs"), 858);  // FCM
  EXPECT_EQ(
      op("aten::linalg_multi_dot").tensors("tensors", {{10}, {10, 40}, {40}}).out({}).count("macs"),
      410);  // FCM
}

TEST(Macs, MatrixPowerByRepeatedSquaring) {
  const auto power = [](int64_t n) {
    return op("aten::linalg_matrix_power")
        .tensor("self", {2, 4, 4})
        .number("n", n)
        .out({2, 4, 4})
        .count("macs");
  };
  EXPECT_EQ(power(1), 0);
  EXPECT_EQ(power(3), 256);   // FCM
  EXPECT_EQ(power(10), 512);  // FCM
  EXPECT_EQ(power(-1), std::nullopt);
}

TEST(Macs, MixtureOfExpertsAsTransformersExportsIt) {
  // 8 rows sorted over 3 experts of 12 × 5: each row is multiplied by one expert. 8 * 12 * 5.
  EXPECT_EQ(op("transformers::grouped_mm_fallback")
                .tensor("input", {8, 12})
                .tensor("weight", {3, 12, 5})
                .tensor("offs", {3})
                .out({8, 5})
                .count("macs"),
            480);
}

TEST(Macs, GroupedProductCutAlongTheContraction) {
  EXPECT_EQ(op("aten::_grouped_mm")
                .tensor("self", {8, 12})
                .tensor("mat2", {12, 5})
                .out({3, 8, 5})
                .count("macs"),
            480);
  EXPECT_EQ(op("aten::_grouped_mm")
                .tensor("self", {8, 12})
                .tensor("mat2", {3, 12, 5})
                .out({8, 5})
                .count("macs"),
            480);
}

TEST(Macs, TwoNumbersInOneFloat4Element) {
  auto n = op("aten::_scaled_mm")
               .arg("self", fake::tensor({2, 8}, TMETER_DTYPE_FLOAT4_E2M1FN_X2))
               .out({2, 3});
  EXPECT_EQ(n.count("macs"), 96);
}

TEST(Macs, EinsumContractsPairsFromTheLeft) {
  const auto einsum = [](const char* equation, std::vector<fake::Dims> shapes) {
    return op("aten::einsum")
        .text("equation", equation)
        .tensors("tensors", shapes)
        .out({1})
        .count("macs");
  };
  EXPECT_EQ(einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}), 64);          // FCM
  EXPECT_EQ(einsum("ab,cd,ac->bd", {{2, 3}, {4, 5}, {2, 4}}), 120);         // FCM
  EXPECT_EQ(einsum("...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}}), 120);     // FCM
  EXPECT_EQ(einsum("ij,j", {{3, 4}, {4}}), 12);                             // FCM
  EXPECT_EQ(einsum("ij,ik->", {{2, 3}, {2, 4}}), 2);                        // FCM
  EXPECT_EQ(einsum("i,j->ij", {{3}, {4}}), 0);                              // FCM
  EXPECT_EQ(einsum("bnd,bnd,ne->be", {{2, 3, 4}, {2, 3, 4}, {3, 5}}), 54);  // FCM
}

TEST(Macs, EinsumFollowsARecordedPath) {
  auto n = op("aten::einsum")
               .text("equation", "ij,jk,kl->il")
               .tensors("tensors", {{2, 3}, {3, 4}, {4, 5}});
  n.numbers("path", {1, 2, 0, 1}).out({2, 5});
  EXPECT_EQ(n.count("macs"), 3 * 4 * 5 + 2 * 3 * 5);
}

TEST(Macs, EinsumThatDoesNotFitIsUnknown) {
  const auto einsum = [](const char* equation, std::vector<fake::Dims> shapes) {
    return op("aten::einsum")
        .text("equation", equation)
        .tensors("tensors", shapes)
        .out({1})
        .count("macs");
  };
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 3}}), std::nullopt);
  EXPECT_EQ(einsum("ij->i", {{2, 3, 4}}), std::nullopt);
  EXPECT_EQ(einsum("i!->i", {{2}}), std::nullopt);
  EXPECT_EQ(einsum("", {}), std::nullopt);
  EXPECT_EQ(einsum("......i->i", {{2, 3}}), std::nullopt);
  auto n = op("aten::einsum")
               .text("equation", "i,i->")
               .tensors("tensors", {{3}, {3}})
               .numbers("path", {7, -2});
  EXPECT_EQ(n.out({}).count("macs"), std::nullopt);
}

TEST(Macs, AttentionWithSharedHeadsAndOtherWidths) {
  auto n = op("aten::scaled_dot_product_attention")
               .tensor("query", {2, 6, 5, 8})
               .tensor("key", {2, 2, 7, 8});
  n.tensor("value", {2, 2, 7, 4}).out({2, 6, 5, 4});
  EXPECT_EQ(n.count("macs"), 2 * 6 * 5 * 7 * (8 + 4));
}

TEST(Macs, AttentionKernelsWithLengthFirst) {
  auto n = op("aten::_flash_attention_forward")
               .tensor("query", {2, 5, 3, 8})
               .tensor("key", {2, 7, 3, 8});
  n.tensor("value", {2, 7, 3, 8}).out({2, 5, 3, 8});
  EXPECT_EQ(n.count("macs"), 3360);  // FCM
  auto packed =
      op("aten::_flash_attention_forward").tensor("query", {11, 3, 8}).tensor("key", {11, 3, 8});
  packed.tensor("value", {11, 3, 8})
      .tensor("cum_seq_q", {3})
      .number("max_q", 6)
      .number("max_k", 6)
      .out({11, 3, 8});
  EXPECT_EQ(packed.count("macs"), 2 * 3 * 6 * 6 * 16);
}

TEST(Macs, FusedMultiHeadAttentionEqualsItsParts) {
  auto n = op("aten::_native_multi_head_attention")
               .tensor("query", {2, 5, 16})
               .tensor("key", {2, 5, 16});
  n.tensor("value", {2, 5, 16}).number("embed_dim", 16).number("num_head", 4).out({2, 5, 16});
  EXPECT_EQ(n.count("macs"), 10 * 16 * 48 + 2 * (2 * 5 * 5 * 16) + 10 * 16 * 16);
}

TEST(Macs, FusedEncoderLayerEqualsItsParts) {
  auto n =
      op("aten::_transformer_encoder_layer_fwd").tensor("src", {2, 5, 16}).number("embed_dim", 16);
  n.number("num_heads", 4)
      .tensor("ffn_weight_1", {32, 16})
      .tensor("ffn_weight_2", {16, 32})
      .out({2, 5, 16});
  EXPECT_EQ(n.count("macs"), 22080);  // FCM on the unfused layer
}

fake::Op lstm(const std::vector<fake::Dims>& params, int64_t layers, bool bidirectional) {
  auto n = op("aten::lstm.input")
               .tensor("input", {4, 3, 6})
               .tensors("hx", {{2, 3, 8}, {2, 3, 8}})
               .tensors("params", params);
  n.number("num_layers", layers).flag("has_biases").out({4, 3, 8});
  if (bidirectional) n.flag("bidirectional");
  return n;
}

TEST(Macs, LstmCountsAllWeightMatrices) {
  EXPECT_EQ(lstm({{32, 6}, {32, 8}, {32}, {32}}, 1, false).count("macs"), 5376);  // FCM
}

TEST(Macs, PackedLstmIsCountedFromItsSizes) {
  EXPECT_EQ(lstm({}, 1, false).count("macs"), 5376);
  EXPECT_EQ(lstm({}, 2, true).count("macs"), 29184);  // FCM
}

TEST(Macs, PackedSequencesCountTheirRealLength) {
  auto n = op("aten::gru.data")
               .tensor("data", {7, 6})
               .tensor("batch_sizes", {4})
               .tensor("hx", {1, 3, 8});
  n.tensors("params", {{24, 6}, {24, 8}}).number("num_layers", 1).out({7, 8});
  EXPECT_EQ(n.count("macs"), 7 * (24 * 6 + 24 * 8));
}

TEST(Macs, FamiliesWithoutProductsAreZeroByRule) {
  for (const auto name : {"aten::relu_", "aten::layer_norm", "aten::view", "aten::embedding",
                          "aten::sort", "aten::fft_fft", "aten::outer", "_operator::mul"})
    EXPECT_TRUE(op(name).tensor("self", {4}).out({4}).zero_by_rule("macs")) << name;
}

TEST(Macs, StrangersAndDecompositionsAreUnknown) {
  for (const auto name : {"acme::matmul", "aten::linalg_svd", "aten::convolution_backward"})
    EXPECT_EQ(op(name).tensor("self", {4, 4}).out({4, 4}).count("macs"), std::nullopt) << name;
}

TEST(Macs, AbsurdSizesFailInsteadOfWrapping) {
  const int64_t big = int64_t{1} << 40;
  const auto n =
      op("aten::mm").tensor("self", {big, big}).tensor("mat2", {big, big}).out({big, big});
  EXPECT_THROW(n.count("macs"), std::runtime_error);
}

}  // namespace
