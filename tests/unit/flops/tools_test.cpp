// The formulas of the tools that hook modules, on single operators. Counts marked "recorded" come
// from the reference table op_matrix.csv that came with the project; where a tool errs, the
// corrected count is calculated beside it.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::op;

constexpr const char* kTools[] = {"thop", "ptflops", "torchinfo", "torchmeter", "torchstat"};

/// The counts of the five conventions, in the order above.
std::vector<int64_t> by_all(const fake::Op& n) {
  std::vector<int64_t> all;
  for (const auto tool : kTools) all.push_back(n.count("flops", tool).value_or(-1));
  return all;
}
using Five = std::vector<int64_t>;

fake::Op norm(const char* name, fake::Dims dims, int64_t channels) {
  return op(name)
      .tensor("input", dims)
      .tensor("weight", {channels})
      .tensor("bias", {channels})
      .out(dims);
}

TEST(Tools, GroupedConvolution) {  // recorded: torchmeter 294,912, which ignores the groups
  const auto n = op("aten::conv2d")
                     .tensor("input", {2, 16, 8, 8})
                     .tensor("weight", {16, 1, 3, 3})
                     .out({2, 16, 8, 8});
  EXPECT_EQ(by_all(n), Five(5, 18432));
}

TEST(Tools, TransposedConvolutionMeetsInputPositions) {
  // recorded for stride 2: thop and torchinfo multiply by the output positions, four times as many
  const auto n = op("aten::conv_transpose2d")
                     .tensor("input", {1, 8, 8, 8})
                     .tensor("weight", {8, 8, 4, 4})
                     .tensor("bias", {8})
                     .out({1, 8, 16, 16});
  EXPECT_EQ(by_all(n), (Five{65536, 65536 + 2048, 65536 + 2048, 65536, 65536 + 2048}));
}

TEST(Tools, LinearOverAllRows) {  // recorded: ptflops 84,480; torchinfo 8,448 and torchmeter 2,048
  const auto n = op("aten::linear")
                     .tensor("input", {4, 10, 32})
                     .tensor("weight", {64, 32})
                     .tensor("bias", {64})
                     .out({4, 10, 64});
  EXPECT_EQ(by_all(n), (Five{81920, 84480, 84480, 81920, 81920}));
}

TEST(Tools, ProductsByFunction) {
  const auto n = op("aten::baddbmm")
                     .tensor("self", {4, 10, 20})
                     .tensor("batch1", {4, 10, 32})
                     .tensor("batch2", {4, 32, 20})
                     .out({4, 10, 20});
  EXPECT_EQ(by_all(n), (Five{25600, 26400, 25600, 25600, 25600}));  // recorded: ptflops 26,400
}

TEST(Tools, Norms) {
  EXPECT_EQ(by_all(norm("aten::batch_norm", {2, 16, 8, 8}, 16)),
            (Five{8192, 4096, 64, 4096, 4096}));  // recorded
  EXPECT_EQ(by_all(norm("aten::layer_norm", {4, 10, 32}, 32)),
            (Five{5120, 1280, 256, 0, 0}));  // recorded
  EXPECT_EQ(by_all(norm("aten::group_norm", {2, 16, 8, 8}, 16)),
            (Five{0, 4096, 64, 0, 0}));  // recorded
}

TEST(Tools, Activations) {
  const auto apply = [](const char* name) {
    return op(name).tensor("self", {2, 16, 8, 8}).out({2, 16, 8, 8});
  };
  // recorded: ptflops counts twice that, once for the module and once for the function it calls
  EXPECT_EQ(by_all(apply("aten::relu_")), (Five{0, 2048, 0, 2048, 2048}));
  EXPECT_EQ(by_all(apply("aten::sigmoid")), (Five{0, 0, 0, 4096, 0}));  // recorded
  EXPECT_EQ(by_all(apply("aten::gelu")), (Five{0, 2048, 0, 0, 0}));
  EXPECT_EQ(by_all(apply("acme::relu")), Five(5, -1));
}

TEST(Tools, HardtanhIsRelu6OnlyFromZeroToSix) {
  const auto hardtanh = [](int64_t low, int64_t high) {
    auto n = op("aten::hardtanh").tensor("self", {2, 8});
    n.real("min_val", low).real("max_val", high).out({2, 8});
    return n;
  };
  EXPECT_EQ(by_all(hardtanh(0, 6)), (Five{0, 16, 0, 16, 16}));
  EXPECT_EQ(by_all(hardtanh(-1, 1)), Five(5, 0));
}

TEST(Tools, SoftmaxAndPooling) {
  auto softmax = op("aten::softmax").tensor("self", {64, 32});
  softmax.number("dim", -1).out({64, 32});
  EXPECT_EQ(by_all(softmax), (Five{64 * 95, 2048, 0, 0, 0}));  // 32 exp, 31 additions, 32 divisions
  auto pool = op("aten::max_pool2d").tensor("self", {2, 16, 8, 8});
  pool.numbers("kernel_size", {2}).out({2, 16, 4, 4});
  EXPECT_EQ(by_all(pool), (Five{0, 2048, 0, 1536, 2048}));  // recorded: torchmeter 1,536
  auto adaptive = op("aten::adaptive_avg_pool2d").tensor("self", {2, 16, 8, 8}).out({2, 16, 1, 1});
  EXPECT_EQ(by_all(adaptive), (Five{2080, 2048, 0, 0, 0}));  // recorded: thop 2,080
}

TEST(Tools, TorchmeterFlops) {  // recorded with torchmeter 0.1.0: Meter(layer).cal.Flops
  const auto flops = [](const fake::Op& n) { return n.count("flops", "torchmeter_flops"); };
  auto conv = op("aten::conv2d").tensor("input", {1, 3, 32, 32}).tensor("weight", {10, 3, 3, 3});
  conv.out({1, 10, 32, 32});
  EXPECT_EQ(flops(conv), 542'720);  // without bias: 10,240 · (2 · 27 - 1)
  conv.tensor("bias", {10});
  EXPECT_EQ(flops(conv), 552'960);
  EXPECT_EQ(flops(norm("aten::batch_norm", {1, 10, 32, 32}, 10)), 40'960);
  const auto apply = [](const char* name) {
    return op(name).tensor("self", {1, 10, 32, 32}).out({1, 10, 32, 32});
  };
  EXPECT_EQ(flops(apply("aten::relu_")), 10'240);
  EXPECT_EQ(flops(apply("aten::tanh")), 92'160);
  EXPECT_EQ(flops(apply("aten::silu")), 51'200);
  EXPECT_EQ(flops(apply("aten::sigmoid")), 40'960);
  EXPECT_EQ(flops(apply("aten::gelu")), 0);  // torchmeter has no rule for it
  const auto pool = [](const char* name) {
    auto n = op(name).tensor("self", {1, 10, 32, 32});
    return n.numbers("kernel_size", {2}).out({1, 10, 16, 16});
  };
  EXPECT_EQ(flops(pool("aten::max_pool2d")), 7'680);
  EXPECT_EQ(flops(pool("aten::avg_pool2d")), 17'920);
  // torchmeter does not see it; 2 per MAC: 4 · 10 · 20 · 32.
  const auto product = op("aten::bmm").tensor("self", {4, 10, 32}).tensor("mat2", {4, 32, 20});
  EXPECT_EQ(flops(fake::Op(product).out({4, 10, 20})), 51'200);
}

TEST(Tools, Recurrent) {  // recorded, two layers of 64: thop, ptflops, torchinfo
  const auto layer = [](const char* name, int64_t gates) {
    auto n = op(name).tensor("input", {4, 5, 32}).tensors("hx", {{2, 5, 64}, {2, 5, 64}});
    n.tensors("params", {{gates * 64, 32}, {gates * 64, 64}, {gates * 64, 64}, {gates * 64, 64}});
    return n.number("num_layers", 2).flag("has_biases").out({4, 5, 64});
  };
  EXPECT_EQ(by_all(layer("aten::lstm", 4)),
            (Five{1146880 + 2560 * 16, 1146880 + 2560 * 18, 1146880 + 2560 * 8, 1146880, 1146880}));
  EXPECT_EQ(by_all(layer("aten::lstm", 4))[0], 1187840);
  EXPECT_EQ(by_all(layer("aten::lstm", 4))[1], 1192960);
  EXPECT_EQ(by_all(layer("aten::lstm", 4))[2], 1167360);
  EXPECT_EQ(by_all(layer("aten::gru", 3)), (Five{893440, 893440, 875520, 860160, 860160}));
}

TEST(Tools, AttentionIsCounted) {  // recorded: 0 by all but FlopCounterMode
  const auto n = op("aten::scaled_dot_product_attention")
                     .tensor("query", {2, 4, 16, 32})
                     .tensor("key", {2, 4, 16, 32})
                     .tensor("value", {2, 4, 16, 32})
                     .out({2, 4, 16, 32});
  // ptflops adds the terms of its formula for nn.MultiheadAttention: 2,048 for scores, 4,096 for
  // the query.
  EXPECT_EQ(by_all(n), (Five{131072, 131072 + 2048 + 4096, 131072, 131072, 131072}));
}

// --- causal halving ---------------------------------------------------------------------------

fake::Op causal(const char* name, int64_t queries, int64_t keys) {
  const bool length_first = std::string(name).find("_forward") != std::string::npos;
  const auto dims = [&](int64_t length) {
    return length_first ? fake::Dims{1, length, 1, 1} : fake::Dims{1, 1, length, 1};
  };
  auto n =
      op(name).tensor("query", dims(queries)).tensor("key", dims(keys)).tensor("value", dims(keys));
  return n.flag("is_causal").out(dims(queries));
}

/// Scores counted by drawing the mask: every score costs 2 MACs here.
int64_t drawn(int64_t queries, int64_t keys, int64_t shift) {
  int64_t scores = 0;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) scores += j <= i + shift;
  return 2 * scores;
}

TEST(Causal, TopLeftTriangle) {
  for (const auto& [l, s] : {std::pair{5, 5}, {3, 7}, {7, 3}, {1, 9}, {9, 1}}) {
    const auto n = causal("aten::scaled_dot_product_attention", l, s);
    EXPECT_EQ(n.count("flops", "torchvision half"), drawn(l, s, 0)) << l << " " << s;
    EXPECT_EQ(n.count("flops", "torchvision"), 2 * l * s);
    EXPECT_EQ(n.count("macs", "torchvision half"), 2 * l * s);
  }
}

TEST(Causal, FlashAlignsToTheBottomRight) {
  for (const auto& [l, s] : {std::pair{5, 5}, {3, 7}, {7, 3}, {1, 9}, {9, 1}}) {
    const auto n = causal("aten::_flash_attention_forward", l, s);
    EXPECT_EQ(n.count("flops", "torchvision half"), drawn(l, s, s - l)) << l << " " << s;
  }
}

}  // namespace
