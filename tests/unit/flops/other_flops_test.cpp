#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fake_host.hpp"

namespace {

using fake::op;

TEST(OtherFlops, ActivationsFollowTheirFormula) {
  const auto of = [](const char* name) {
    return op(name).tensor("self", {10}).out({10}).count("other_flops");
  };
  EXPECT_EQ(of("aten::relu_"), 10);
  EXPECT_EQ(of("aten::sigmoid"), 40);
  EXPECT_EQ(of("aten::silu"), 50);
  EXPECT_EQ(of("aten::gelu"), 50);
  EXPECT_EQ(op("aten::gelu")
                .tensor("self", {10})
                .text("approximate", "tanh")
                .out({10})
                .count("other_flops"),
            90);
}

TEST(OtherFlops, ReductionsReadTheirInputElementwiseItsResult) {
  EXPECT_EQ(op("aten::sum").tensor("self", {4, 5}).out({4}).count("other_flops"), 20);
  EXPECT_EQ(op("aten::mean").tensor("self", {4, 5}).out({4}).count("other_flops"), 24);
  EXPECT_EQ(op("aten::max.other")
                .tensor("self", {5})
                .tensor("other", {4, 5})
                .out({4, 5})
                .count("other_flops"),
            20);
  EXPECT_EQ(
      op("aten::add").tensor("self", {1}).tensor("other", {4, 5}).out({4, 5}).count("other_flops"),
      20);
}

TEST(OtherFlops, Norms) {
  EXPECT_EQ(op("aten::batch_norm").tensor("input", {2, 3}).out({2, 3}).count("other_flops"), 12);
  EXPECT_EQ(op("aten::layer_norm")
                .tensor("input", {2, 3})
                .tensor("weight", {3})
                .tensor("bias", {3})
                .out({2, 3})
                .count("other_flops"),
            48);
  EXPECT_EQ(op("aten::rms_norm").tensor("input", {2, 3}).out({2, 3}).count("other_flops"), 18);
}

TEST(OtherFlops, PoolingWindows) {
  EXPECT_EQ(op("aten::max_pool2d")
                .tensor("self", {1, 2, 8, 8})
                .numbers("kernel_size", {2, 3})
                .out({1, 2, 4, 4})
                .count("other_flops"),
            192);
  EXPECT_EQ(op("aten::avg_pool3d")
                .tensor("self", {1, 8, 8, 8})
                .numbers("kernel_size", {2})
                .out({1, 4, 4, 4})
                .count("other_flops"),
            512);
}

TEST(OtherFlops, AdaptiveWindowsOverlapWhenTheyDoNotDivide) {
  const auto pool = [](int64_t in, int64_t out) {
    return op("aten::adaptive_avg_pool1d")
        .tensor("self", {1, 1, in})
        .out({1, 1, out})
        .count("other_flops");
  };
  EXPECT_EQ(pool(12, 4), 12);
  EXPECT_EQ(pool(5, 3), 2 + 3 + 2);
  EXPECT_EQ(pool(2, 4), 4);
  EXPECT_EQ(pool(3, int64_t{1} << 40), std::nullopt);
}

TEST(OtherFlops, Resampling) {
  const auto of = [](const char* name) {
    return op(name).tensor("self", {1, 1, 4, 4}).out({1, 1, 8, 8}).count("other_flops");
  };
  EXPECT_EQ(of("aten::upsample_bilinear2d"), 64 * 9);
  EXPECT_EQ(of("aten::upsample_bicubic2d"), 64 * 35);
  EXPECT_EQ(of("aten::upsample_nearest2d"), 0);
  // Enlarged: 3 taps of the bilinear filter, 5 operations, over 4 × 8 and then 8 × 8 elements.
  EXPECT_EQ(of("aten::_upsample_bilinear2d_aa"), (4 * 8 + 8 * 8) * 5);
}

TEST(OtherFlops, FourierTransforms) {
  EXPECT_EQ(op("aten::fft_fft").tensor("self", {4, 16}).out({4, 16}).count("other_flops"),
            5 * 64 * 4);
  EXPECT_EQ(op("aten::fft_rfft").tensor("self", {4, 16}).out({4, 9}).count("other_flops"),
            5 * 64 * 4 / 2);
  EXPECT_EQ(op("aten::fft_irfft").tensor("self", {4, 9}).out({4, 16}).count("other_flops"),
            5 * 64 * 4 / 2);
  EXPECT_EQ(op("aten::_fft_c2c")
                .tensor("self", {4, 8})
                .numbers("dim", {0, 1})
                .out({4, 8})
                .count("other_flops"),
            5 * 32 * 5);
}

TEST(OtherFlops, LayoutCostsNothingByRule) {
  for (const auto name :
       {"aten::view", "aten::cat", "aten::to", "aten::index_select", "aten::topk", "aten::zeros",
        "aten::rand", "aten::dropout", "aten::embedding", "aten::sym_size"})
    EXPECT_TRUE(op(name).tensor("self", {4}).out({4}).zero_by_rule("other_flops")) << name;
}

TEST(OtherFlops, ScalarArithmeticCostsNothing) {
  EXPECT_TRUE(op("aten::mul.int").number("a", 2).number("b", 3).zero_by_rule("other_flops"));
}

TEST(OtherFlops, OperatorsWithoutARuleAreUnknown) {
  for (const auto name :
       {"acme::x", "aten::linalg_svd", "aten::multi_margin_loss", "aten::roi_align"})
    EXPECT_EQ(op(name).tensor("self", {4, 4}).out({4}).count("other_flops"), std::nullopt) << name;
  // An operator without tensors is unknown, too, unless a plugin defines it.
  EXPECT_EQ(op("aten::no_such_thing").number("n", 1).count("other_flops"), std::nullopt);
  EXPECT_EQ(op("acme::x").number("n", 1).count("other_flops"), 0);
}

/// The class that a plugin gives its operator (Registrar::Op::work).
TEST(OtherFlops, OperatorsOfPluginsAreCountedByTheirClass) {
  const auto of = [](const char* work) {
    const auto n = op(std::string("acme::") + work).work(work);
    return fake::Op(n).tensor("self", {4}).out({2, 5}).count("other_flops");
  };
  const auto warned = [](const std::string& work) {
    const auto words = "the work of acme::" + work + " besides its MACs counts as 0";
    return std::any_of(fake::warnings().begin(), fake::warnings().end(),
                       [&](const auto& w) { return w.find(words) != std::string::npos; });
  };
  for (const auto work : {"elementwise", "activation"}) {
    EXPECT_EQ(of(work), 10) << work;
    EXPECT_FALSE(warned(work)) << work;
  }
  for (const auto work : {"view", "control"}) {
    EXPECT_EQ(of(work), 0) << work;
    EXPECT_FALSE(warned(work)) << work;
  }
  // Their MACs are known to be 0, and no rule covers their other arithmetic.
  for (const auto work : {"softmax", "normalization", "reduction"}) {
    EXPECT_EQ(of(work), 0) << work;
    EXPECT_TRUE(warned(work)) << work;
  }
  for (const auto work : {"matmul", "attention"}) {
    EXPECT_EQ(of(work), std::nullopt) << work;
    EXPECT_FALSE(warned(work)) << work;
  }
}

}  // namespace
