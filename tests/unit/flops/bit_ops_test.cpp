// Bit operations: hand calculations, MACs × bits × bits.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::op;

fake::Op product(const char* name, int32_t left, int32_t right) {
  return op(name)
      .arg("self", fake::tensor({3, 8}, left))
      .arg("mat2", fake::tensor({8, 5}, right))
      .out({3, 5});
}
constexpr int64_t kMacs = 3 * 8 * 5;

TEST(BitOps, ByElementType) {
  EXPECT_EQ(product("aten::mm", TMETER_DTYPE_FLOAT32, TMETER_DTYPE_FLOAT32).count("bit_ops"),
            kMacs * 32 * 32);
  EXPECT_EQ(product("aten::mm", TMETER_DTYPE_BFLOAT16, TMETER_DTYPE_BFLOAT16).count("bit_ops"),
            kMacs * 16 * 16);
  EXPECT_EQ(product("aten::_int_mm", TMETER_DTYPE_INT8, TMETER_DTYPE_INT8).count("bit_ops"),
            kMacs * 8 * 8);
  EXPECT_EQ(product("aten::_scaled_mm", TMETER_DTYPE_FLOAT8_E4M3FN, TMETER_DTYPE_FLOAT8_E5M2)
                .count("bit_ops"),
            kMacs * 8 * 8);
  // Two numbers in an element: twice the MACs, four bits each.
  EXPECT_EQ(
      product("aten::_scaled_mm", TMETER_DTYPE_FLOAT4_E2M1FN_X2, TMETER_DTYPE_FLOAT4_E2M1FN_X2)
          .count("bit_ops"),
      2 * kMacs * 4 * 4);
}

TEST(BitOps, ByNameWhereWeightsArePacked) {
  EXPECT_EQ(product("aten::_weight_int4pack_mm", TMETER_DTYPE_BFLOAT16, TMETER_DTYPE_INT32)
                .count("bit_ops"),
            kMacs * 16 * 4);
  EXPECT_EQ(op("quantized::linear")
                .arg("X", fake::tensor({3, 8}, TMETER_DTYPE_QUINT8))
                .out({3, 5})
                .count("bit_ops"),
            kMacs * 8 * 8);
  EXPECT_EQ(op("quantized::linear_dynamic").tensor("X", {3, 8}).out({3, 5}).count("bit_ops"),
            kMacs * 8 * 8);
  EXPECT_EQ(op("quantized::linear_dynamic_fp16").tensor("X", {3, 8}).out({3, 5}).count("bit_ops"),
            kMacs * 32 * 16);
}

TEST(BitOps, GroupedProduct) {
  const auto n = op("aten::_grouped_mm")
                     .arg("self", fake::tensor({6, 8}, TMETER_DTYPE_BFLOAT16))
                     .arg("mat2", fake::tensor({2, 8, 5}, TMETER_DTYPE_BFLOAT16))
                     .out({6, 5});
  EXPECT_EQ(n.count("macs"), 6 * 8 * 5);
  EXPECT_EQ(n.count("bit_ops"), 6 * 8 * 5 * 16 * 16);
}

TEST(BitOps, ConvolutionAndAttention) {
  EXPECT_EQ(op("aten::conv2d")
                .tensor("input", {1, 3, 8, 8})
                .tensor("weight", {4, 3, 3, 3})
                .out({1, 4, 6, 6})
                .count("bit_ops"),
            3888 * 1024);
  const auto attention = [](int32_t value) {
    const auto t = [](int32_t type) { return fake::tensor({1, 2, 4, 8}, type); };
    return op("aten::scaled_dot_product_attention")
        .arg("query", t(TMETER_DTYPE_FLOAT16))
        .arg("key", t(TMETER_DTYPE_FLOAT16))
        .arg("value", t(value))
        .out({1, 2, 4, 8})
        .count("bit_ops");
  };
  EXPECT_EQ(attention(TMETER_DTYPE_FLOAT16), 2 * 4 * 4 * 16 * 256);
  EXPECT_EQ(attention(TMETER_DTYPE_FLOAT8_E4M3FN), std::nullopt);
}

TEST(BitOps, NeverGuessed) {
  EXPECT_EQ(product("aten::mm", TMETER_DTYPE_UNDEFINED, TMETER_DTYPE_FLOAT32).count("bit_ops"),
            std::nullopt);
  EXPECT_EQ(product("aten::mm", TMETER_DTYPE_COMPLEX64, TMETER_DTYPE_COMPLEX64).count("bit_ops"),
            std::nullopt);
  EXPECT_EQ(product("acme::mm", TMETER_DTYPE_INT8, TMETER_DTYPE_INT8).count("bit_ops"),
            std::nullopt);
  EXPECT_TRUE(op("aten::relu").tensor("self", {4}).out({4}).zero_by_rule("bit_ops"));
}

}  // namespace
