// Every operator named by a rule, in the smallest form that distinguishes its rule from its
// neighbours'. The counts are hand calculations by docs/conventions.md: MACs and other arithmetic.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::Dims;
using fake::Op;
using fake::op;
using Names = std::initializer_list<const char*>;
using Counts = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

Counts counts(const Op& n) { return {n.count("macs"), n.count("other_flops")}; }

template <class Make>
void expect_all(Names names, Make make, int64_t macs, int64_t other) {
  for (const auto name : names) EXPECT_EQ(counts(make(name)), Counts(macs, other)) << name;
}

// --- convolutions -------------------------------------------------------------------------------

/// 8 channels in, 4 out, a kernel of 6: 24 results from 80 inputs.
Op conv(const char* name) {
  return op(name).tensor("input", {2, 8, 5}).tensor("weight", {4, 8, 6}).out({2, 4, 3});
}
Op conv_with_bias(const char* name) { return conv(name).tensor("bias", {4}); }

TEST(EveryName, Convolutions) {
  const Names forward{"aten::conv1d",
                      "aten::conv2d",
                      "aten::conv3d",
                      "aten::_convolution_mode",
                      "aten::mkldnn_convolution",
                      "aten::cudnn_convolution",
                      "aten::miopen_convolution",
                      "aten::miopen_depthwise_convolution",
                      "aten::_conv_depthwise2d",
                      "aten::conv_depthwise3d",
                      "aten::_slow_conv2d_forward",
                      "aten::thnn_conv2d",
                      "aten::slow_conv3d",
                      "aten::slow_conv3d_forward",
                      "aten::slow_conv_dilated2d",
                      "aten::slow_conv_dilated3d",
                      "aten::_nnpack_spatial_convolution",
                      "aten::_mps_convolution",
                      "aten::convolution",
                      "aten::_convolution",
                      "aten::convolution_overrideable",
                      "onednn::qconv_pointwise",
                      "onednn::qconv1d_pointwise",
                      "onednn::qconv2d_pointwise",
                      "onednn::qconv3d_pointwise",
                      "mkldnn::_convolution_pointwise"};
  expect_all(forward, conv, 24 * 8 * 6, 0);
  expect_all(forward, conv_with_bias, 24 * 8 * 6, 24);
}

TEST(EveryName, TransposedConvolutions) {
  expect_all({"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
              "aten::cudnn_convolution_transpose", "aten::miopen_convolution_transpose",
              "aten::slow_conv_transpose2d", "aten::slow_conv_transpose3d",
              "aten::_mps_convolution_transpose", "mkldnn::_convolution_transpose_pointwise"},
             conv_with_bias, 80 * 8 * 6, 24);
  for (const auto name : {"aten::convolution", "aten::_convolution"})
    EXPECT_EQ(counts(conv(name).flag("transposed")), Counts(80 * 8 * 6, 0)) << name;
}

TEST(EveryName, FusedConvolutions) {
  const Names relu{"aten::cudnn_convolution_relu", "aten::miopen_convolution_relu"};
  expect_all(relu, conv, 24 * 48, 24);
  expect_all(relu, conv_with_bias, 24 * 48, 2 * 24);
  const Names add{"aten::cudnn_convolution_add_relu", "aten::miopen_convolution_add_relu"};
  expect_all(add, conv, 24 * 48, 2 * 24);
  expect_all(add, conv_with_bias, 24 * 48, 3 * 24);
}

TEST(EveryName, TimeBatchChannelConvolution) {
  auto n = op("aten::conv_tbc").tensor("self", {7, 2, 5}).tensor("weight", {3, 5, 4});
  EXPECT_EQ(counts(n.tensor("bias", {4}).out({5, 2, 4})), Counts(40 * 3 * 5, 40));
}

TEST(EveryName, DeformableConvolution) {
  auto n = op("torchvision::deform_conv2d").tensor("input", {2, 6, 9, 9});
  n.tensor("weight", {4, 6, 3, 2}).out({2, 4, 7, 5});
  // One sample for each of 2 × 6 channels, 3 × 2 places in the kernel, 7 × 5 results.
  const int64_t macs = 2 * 4 * 35 * 36, samples = 12 * 6 * 35;
  EXPECT_EQ(counts(n), Counts(macs, 7 * samples));
  EXPECT_EQ(counts(n.flag("use_mask").tensor("bias", {4})), Counts(macs, 8 * samples + 280));
}

/// Like `conv`, with weight and bias packed into a list of fields.
Op packed_conv(const char* name) {
  auto n = op(name).arg("qx", fake::tensor({2, 8, 5}));
  return n.tensors("packed_weight", {{1}, {4, 8, 6}}).out({2, 4, 3});
}

TEST(EveryName, QuantizedConvolutions) {
  expect_all({"quantized::conv1d", "quantized::conv2d", "quantized::conv3d",
              "quantized::conv1d_dynamic", "quantized::conv2d_dynamic", "quantized::conv3d_dynamic",
              "_quantized::conv2d", "_quantized::conv3d", "mkldnn_prepacked::conv2d_run"},
             packed_conv, 24 * 48, 24);
  expect_all({"quantized::conv1d_relu", "quantized::conv2d_relu", "quantized::conv3d_relu",
              "quantized::conv2d_add", "_quantized::conv2d_relu", "_quantized::conv3d_relu"},
             packed_conv, 24 * 48, 2 * 24);
  expect_all({"quantized::conv2d_add_relu"}, packed_conv, 24 * 48, 3 * 24);
  expect_all({"quantized::conv_transpose1d", "quantized::conv_transpose2d",
              "quantized::conv_transpose3d", "quantized::conv_transpose1d_dynamic",
              "quantized::conv_transpose2d_dynamic", "quantized::conv_transpose3d_dynamic",
              "_quantized::conv_transpose1d", "_quantized::conv_transpose2d"},
             packed_conv, 80 * 48, 24);
}

TEST(EveryName, PackedKernelIsFoundUnderAnyOfItsNames) {
  for (const auto name : {"W", "qw", "weight", "packed_weight", "W_prepack"}) {
    auto n = op("quantized::conv1d").tensor("qx", {2, 8, 5}).tensor(name, {4, 8, 6});
    EXPECT_EQ(n.out({2, 4, 3}).count("macs"), 24 * 48) << name;
  }
  auto n = op("quantized::conv1d").tensor("qx", {2, 8, 5}).tensors("W", {{4, 8}});
  EXPECT_EQ(n.out({2, 4, 3}).count("macs"), std::nullopt);  // a matrix cannot be a kernel
}

// --- matrix products ----------------------------------------------------------------------------

/// 5 × 7 times 7 × 3.
Op product(const char* name, const char* left) {
  return op(name).tensor(left, {5, 7}).tensor("mat2", {7, 3}).out({5, 3});
}
Op product_with_bias(const char* name) { return product(name, "self").tensor("bias", {3}); }

TEST(EveryName, MatrixProducts) {
  const Names plain{"aten::mm",
                    "aten::bmm",
                    "aten::matmul",
                    "aten::linalg_matmul",
                    "aten::mv",
                    "aten::dot",
                    "aten::vdot",
                    "aten::inner",
                    "aten::_int_mm",
                    "aten::_weight_int4pack_mm",
                    "aten::_weight_int4pack_mm_for_cpu",
                    "aten::_weight_int4pack_mm_with_scales_and_zeros",
                    "aten::_weight_int8pack_mm",
                    "aten::_dyn_quant_matmul_4bit",
                    "transformers::grouped_mm_fallback"};
  expect_all(plain, product_with_bias, 15 * 7, 0);
  for (const auto left : {"self", "input", "inp", "qa"})
    EXPECT_EQ(product("aten::mm", left).count("macs"), 15 * 7) << left;
  EXPECT_EQ(product("aten::mm", "left").count("macs"), std::nullopt);
}

TEST(EveryName, LinearLayers) {
  expect_all(
      {"aten::linear", "aten::mkldnn_linear", "aten::_scaled_mm", "aten::_scaled_mm_v2",
       "aten::_mixed_dtypes_linear", "aten::_sparse_semi_structured_linear",
       "quantized::linear_dynamic_fp16_unpacked_weight", "onednn::linear_dynamic_fp16",
       "onednn::linear_relu_dynamic_fp16", "onednn::qlinear_pointwise", "mkldnn::_linear_pointwise",
       "mkl::_mkl_linear", "quantized::int4mm_packed_weight_cpu", "quantized::matmul"},
      product_with_bias, 15 * 7, 15);
}

TEST(EveryName, PackedLinearLayersHaveABias) {
  const auto packed = [](const char* name) { return product(name, "X"); };
  expect_all({"quantized::linear", "quantized::linear_dynamic", "quantized::linear_dynamic_fp16",
              "quantized::linear_with_input_q_dq_qweight_dq_output_fp32", "_quantized::linear",
              "_quantized::linear_dynamic", "_quantized::wrapped_quantized_linear",
              "_quantized::_wrapped_quantized_linear_prepacked",
              "_quantized::wrapped_fbgemm_linear_fp16_weight", "aten::fbgemm_linear_fp16_weight",
              "aten::fbgemm_linear_fp16_weight_fp32_activation", "aten::fbgemm_linear_int8_weight",
              "aten::fbgemm_linear_int8_weight_fp32_activation"},
             packed, 15 * 7, 15);
  expect_all(
      {"quantized::linear_relu", "quantized::linear_relu_dynamic",
       "quantized::linear_relu_dynamic_fp16", "quantized::linear_leaky_relu",
       "quantized::linear_tanh", "quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32"},
      packed, 15 * 7, 2 * 15);
}

TEST(EveryName, ProductsThatAddTheirSelf) {
  for (const auto left : {"mat1", "batch1", "mat"}) {
    const auto add = [left](const char* name) {
      return op(name).tensor("self", {3}).tensor(left, {5, 7}).tensor("b", {7, 3}).out({5, 3});
    };
    expect_all({"aten::addmm", "aten::addmm_", "aten::baddbmm", "aten::baddbmm_", "aten::addmv",
                "aten::addmv_", "aten::_sparse_addmm", "aten::_scaled_addmm"},
               add, 15 * 7, 15);
    expect_all({"aten::_addmm_activation"}, add, 15 * 7, 2 * 15);  // and a relu
    EXPECT_EQ(add("aten::_addmm_activation").flag("use_gelu").count("other_flops"), 6 * 15);
  }
  const auto batches = [](const char* name) {
    return op(name).tensor("batch1", {4, 5, 7}).tensor("batch2", {4, 7, 3}).out({5, 3});
  };
  expect_all({"aten::addbmm", "aten::addbmm_"}, batches, 4 * 5 * 7 * 3, 15);
}

TEST(EveryName, SparseProductsCountAsDense) {
  EXPECT_EQ(counts(product("aten::_sparse_mm", "sparse")), Counts(15 * 7, 0));
  const auto compressed = [](const char* right) {
    return [right](const char* name) {
      return op(name)
          .tensor("compressed", {5, 4})
          .tensor(right, {7, 3})
          .tensor("bias", {3})
          .out({5, 3});
    };
  };
  const Names products{"aten::_sparse_semi_structured_mm", "aten::_cslt_sparse_mm"};
  expect_all(products, compressed("mat2"), 15 * 7, 15);
  expect_all(products, compressed("dense_B"), 15 * 7, 15);
  expect_all({"aten::_sparse_semi_structured_addmm"}, compressed("mat2"), 15 * 7, 15);
}

TEST(EveryName, GroupedProducts) {
  const auto grouped = [](const char* name) {
    return op(name)
        .tensor("self", {8, 12})
        .tensor("mat2", {3, 12, 5})
        .tensor("bias", {5})
        .out({8, 5});
  };
  expect_all({"aten::_grouped_mm", "aten::_scaled_grouped_mm", "aten::_scaled_grouped_mm_v2"},
             grouped, 8 * 5 * 12, 40);
  // Both operands have batches: neither alone shows that the contraction is divided.
  auto n = op("aten::_grouped_mm").tensor("self", {3, 8, 12}).tensor("mat2", {12, 5});
  EXPECT_EQ(n.out({8, 15}).count("macs"), 8 * 15 * 12);
}

TEST(EveryName, DotProductsAlongADim) {
  const auto vecdot = [] { return op("aten::linalg_vecdot").tensor("x", {3, 5}); };
  EXPECT_EQ(counts(vecdot().out({3})), Counts(3 * 5, 0));
  EXPECT_EQ(counts(vecdot().number("dim", 0).out({5})), Counts(5 * 3, 0));
}

TEST(EveryName, TensordotContractsTheNamedDims) {
  auto n = op("aten::tensordot").tensor("self", {2, 3, 5}).numbers("dims_self", {0, 2});
  EXPECT_EQ(counts(n.out({3, 7})), Counts(21 * 10, 0));
  auto outer = op("aten::tensordot").tensor("self", {2, 3}).numbers("dims_self", {});
  EXPECT_EQ(outer.out({2, 3, 7}).count("macs"), 42);
}

// By hand: row i of X, where [4, 4] X = [4, 3], takes i products in each of 3 columns, 3·(0+1+2+3)
// = 18; each of 12 elements is divided.
TEST(EveryName, TriangularSystemsBySubstitution) {
  const auto system = [](const char* name, const char* a, const char* b) {
    return op(name).tensor(a, {2, 4, 4}).tensor(b, {2, 4, 3}).out({2, 4, 3});
  };
  EXPECT_EQ(counts(system("aten::linalg_solve_triangular", "self", "B")), Counts(36, 24));
  EXPECT_EQ(counts(system("aten::linalg_solve_triangular", "self", "B").flag("unitriangular")),
            Counts(36, 0));
  EXPECT_EQ(counts(system("aten::triangular_solve", "A", "self")), Counts(36, 24));
  // From the right: [3, 4] = X [4, 4], columns of 3.
  EXPECT_EQ(counts(op("aten::linalg_solve_triangular")
                       .tensor("self", {4, 4})
                       .tensor("B", {3, 4})
                       .out({3, 4})),
            Counts(18, 12));
}

// By hand, [4, 4] X = [4, 3]: elimination leaves 3, 2 and 1 rows, 9 + 4 + 1 = 14 products and
// 3 + 2 + 1 = 6 divisions; two substitutions take 18 products each, the second one 12 divisions.
TEST(EveryName, SystemsByElimination) {
  for (const auto* name : {"aten::linalg_solve", "aten::_linalg_solve_ex"}) {
    const auto system = [&](fake::Dims a, fake::Dims b) {
      return op(name).tensor("A", a).tensor("B", b).out(b);
    };
    EXPECT_EQ(counts(system({4, 4}, {4, 3})), Counts(14 + 36, 6 + 12)) << name;
    EXPECT_EQ(counts(system({2, 4, 4}, {2, 4, 3})), Counts(100, 36)) << name;
    EXPECT_EQ(system({4, 4}, {4, 3}).count("bit_ops"), 50 * 32 * 32) << name;
    EXPECT_EQ(counts(system({4, 4}, {4})), Counts(14 + 12, 6 + 4)) << name;
    EXPECT_EQ(counts(system({1, 1}, {1, 1})), Counts(0, 1)) << name;
    EXPECT_EQ(counts(system({0, 0}, {0, 3})), Counts(0, 0)) << name;
  }
}

TEST(EveryName, PowersAndChains) {
  for (const auto name : {"aten::matrix_power", "aten::linalg_matrix_power"}) {
    const auto power = [name](int64_t n) {
      return counts(op(name).tensor("self", {4, 4}).number("n", n).out({4, 4}));
    };
    EXPECT_EQ(power(0), Counts(0, 0)) << name;
    EXPECT_EQ(power(2), Counts(64, 0)) << name;      // one square
    EXPECT_EQ(power(7), Counts(4 * 64, 0)) << name;  // x², x⁴, and x⁴·x²·x
  }
  EXPECT_EQ(counts(op("aten::chain_matmul").tensors("matrices", {{2, 3}, {3, 4}}).out({2, 4})),
            Counts(24, 0));
  const auto chain = [](const std::vector<Dims>& shapes) {
    return op("aten::linalg_multi_dot").tensors("tensors", shapes).out({2, 2}).count("macs");
  };
  EXPECT_EQ(chain({{2, 2}}), std::nullopt);  // torch refuses it
  EXPECT_EQ(chain({{2, 2}, {}}), std::nullopt);
  EXPECT_EQ(chain(std::vector<Dims>(64, {1, 1})), 63);
  EXPECT_EQ(chain(std::vector<Dims>(65, {1, 1})), std::nullopt);
}

TEST(EveryName, Bilinear) {
  // Each of 5 rows and 2 results: 3 × 7 products with the first input, 7 more with the second.
  auto n = op("aten::bilinear").tensor("input1", {5, 3}).tensor("input2", {5, 7});
  EXPECT_EQ(counts(n.tensor("weight", {2, 3, 7}).tensor("bias", {2}).out({5, 2})),
            Counts(10 * 7 * (3 + 1), 10));
}

/// bilinear as ATen runs it: x1 [b, o, i, j] expanded at 1 and 3, W at 0, x2 at 1 and 2.
TEST(EveryName, TrilinearMultipliesTheFirstPairFirst) {
  auto n = op("aten::_trilinear").tensor("i1", {5, 3}).tensor("i2", {2, 3, 7});
  n.tensor("i3", {5, 7}).numbers("expand1", {1, 3}).numbers("expand2", {0});
  n.numbers("expand3", {1, 2}).numbers("sumdim", {2, 3}).out({5, 2});
  // The pair over b, o, i, j; then i, which the third operand lacks, is summed: b, o, j remain.
  EXPECT_EQ(counts(n), Counts(5 * 2 * 3 * 7 + 5 * 2 * 7, 0));
  auto many = op("aten::_trilinear").tensor("i1", Dims(16, 1)).numbers("expand1", {0});
  EXPECT_EQ(many.out({1}).count("macs"), std::nullopt);
}

TEST(EveryName, AffineGrids) {
  const auto grid = [](const char* name) {
    return op(name).tensor("theta", {2, 2, 3}).out({2, 20, 2});
  };
  expect_all({"aten::affine_grid_generator", "aten::cudnn_affine_grid_generator"}, grid, 80 * 3, 0);
}

TEST(EveryName, OuterProductsAccumulateNothing) {
  const auto outer = [](const char* name) {
    return op(name).tensor("self", {3}).tensor("vec2", {4}).out({3, 4});
  };
  expect_all({"aten::outer", "aten::ger"}, outer, 0, 12);
  expect_all({"aten::addr", "aten::addr_"}, outer, 0, 2 * 12);
}

}  // namespace
