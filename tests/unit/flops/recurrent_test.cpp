// Recurrent layers and cells: MACs, gate arithmetic, and the tools' counts, by hand from
// docs/conventions.md. Per hidden unit and step: LSTM 22 (8 for biases), GRU 16 (6), RNN 2 (2).
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::Op;
using fake::op;
using Counts = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

Counts counts(const Op& n) { return {n.count("macs"), n.count("other_flops")}; }

struct Kind {
  std::vector<const char*> names;
  int64_t gates, arithmetic, biases;
};

/// 12 steps of 6 elements, 8 hidden units.
Op layer(const char* name) {
  return op(name).tensor("input", {4, 3, 6}).tensors("hx", {{1, 3, 8}, {1, 3, 8}}).out({4, 3, 8});
}

const Kind kLayers[] = {{{"aten::lstm", "aten::_lstm_mps", "aten::quantized_lstm"}, 4, 22, 8},
                        {{"aten::gru", "aten::quantized_gru"}, 3, 16, 6},
                        {{"aten::rnn_tanh", "aten::rnn_relu"}, 1, 2, 2}};

TEST(Recurrent, LayersWithPackedWeights) {
  for (const auto& kind : kLayers)
    for (const auto name : kind.names) {
      const int64_t one = 12 * kind.gates * 8;
      EXPECT_EQ(counts(layer(name)), Counts(one * (6 + 8), 96 * (kind.arithmetic + kind.biases)))
          << name;
      EXPECT_EQ(layer(name).number("has_biases", 0).count("other_flops"), 96 * kind.arithmetic)
          << name;
      // The second layer reads the 8 elements of the first, of both directions if there are two.
      EXPECT_EQ(layer(name).number("num_layers", 2).count("macs"), one * (6 + 8 + 8 + 8)) << name;
      auto both = layer(name).number("num_layers", 2).flag("bidirectional");
      EXPECT_EQ(counts(both),
                Counts(2 * one * (6 + 8 + 16 + 8), 4 * 96 * (kind.arithmetic + kind.biases)))
          << name;
    }
}

TEST(Recurrent, WeightMatricesAreCountedVectorsAreNot) {
  for (const auto list : {"params", "weight"})
    EXPECT_EQ(layer("aten::gru").tensors(list, {{24, 6}, {24, 8}, {24}}).count("macs"),
              12 * (24 * 6 + 24 * 8))
        << list;
}

TEST(Recurrent, WithoutAStateTheWorkIsUnknown) {
  const auto gru = [] { return op("aten::gru").tensor("input", {4, 3, 6}).out({4, 3, 8}); };
  EXPECT_EQ(counts(gru()), Counts(std::nullopt, std::nullopt));
  EXPECT_EQ(counts(gru().tensor("hx", {})), Counts(std::nullopt, std::nullopt));
  EXPECT_EQ(gru().tensor("hx", {8}).count("macs"), 12 * 24 * 14);
  EXPECT_EQ(op("aten::gru").tensor("input", {}).tensor("hx", {8}).out({8}).count("macs"),
            std::nullopt);
}

/// The kernels of oneDNN, cuDNN and MIOpen encode their mode in a number.
struct Mode {
  int64_t mode, arithmetic, biases, thop, ptflops, torchinfo;
};
const Mode kModes[] = {
    {0, 2, 2, 3, 3, 2}, {1, 2, 2, 3, 3, 2}, {2, 22, 8, 16, 18, 8}, {3, 16, 6, 13, 13, 6}};

TEST(Recurrent, OneLayerOfOneDnn) {
  const auto kernel = [](int64_t mode) {
    auto n = op("aten::mkldnn_rnn_layer").tensor("input", {4, 3, 6}).tensor("weight0", {32, 6});
    n.tensor("weight1", {32, 8}).number("hidden_size", 8).number("num_layers", 5);
    return n.number("mode", mode).out({4, 3, 8});
  };
  constexpr int64_t kMacs = 12 * 32 * 14;
  for (const auto& m : kModes) {
    EXPECT_EQ(counts(kernel(m.mode)), Counts(kMacs, 96 * (m.arithmetic + m.biases))) << m.mode;
    EXPECT_EQ(kernel(m.mode).number("has_biases", 0).count("other_flops"), 96 * m.arithmetic)
        << m.mode;
    EXPECT_EQ(kernel(m.mode).count("flops", "thop"), kMacs + 96 * m.thop) << m.mode;
    EXPECT_EQ(kernel(m.mode).count("flops", "ptflops"), kMacs + 96 * m.ptflops) << m.mode;
    EXPECT_EQ(kernel(m.mode).count("flops", "torchinfo"), kMacs + 96 * m.torchinfo) << m.mode;
  }
  EXPECT_EQ(kernel(4).count("other_flops"), std::nullopt);
  EXPECT_EQ(kernel(-1).count("other_flops"), std::nullopt);
}

TEST(Recurrent, KernelsOfCudnnAndMiopen) {
  for (const auto name : {"aten::_cudnn_rnn", "aten::miopen_rnn"}) {
    const auto kernel = [name](int64_t mode) {
      auto n = op(name).tensor("input", {4, 3, 6}).tensors("weight", {{32, 6}, {32, 8}, {32}});
      return n.number("hidden_size", 8).number("mode", mode).out({4, 3, 8});
    };
    constexpr int64_t kMacs = 12 * 32 * 14;
    for (const auto& m : kModes) {
      const auto other = 96 * (m.arithmetic + m.biases);
      EXPECT_EQ(counts(kernel(m.mode)), Counts(kMacs, other)) << name << m.mode;
      EXPECT_EQ(kernel(m.mode).count("flops", "thop"), kMacs + 96 * m.thop) << name << m.mode;
      auto both = kernel(m.mode).number("num_layers", 3).flag("bidirectional");
      EXPECT_EQ(counts(both), Counts(kMacs, 6 * other)) << name << m.mode;
      EXPECT_EQ(both.count("flops", "thop"), kMacs + 6 * 96 * m.thop) << name << m.mode;
    }
    EXPECT_EQ(op(name).tensor("input", {4, 3, 6}).number("mode", 2).out({4, 3, 8}).count("macs"),
              std::nullopt)
        << name;
  }
}

const Kind kCells[] = {
    {{"aten::lstm_cell", "aten::quantized_lstm_cell", "quantized::quantized_lstm_cell_dynamic"},
     4,
     22,
     8},
    {{"aten::gru_cell", "aten::quantized_gru_cell", "quantized::quantized_gru_cell_dynamic"},
     3,
     16,
     6},
    {{"aten::rnn_tanh_cell", "aten::rnn_relu_cell", "aten::quantized_rnn_tanh_cell",
      "aten::quantized_rnn_relu_cell", "quantized::quantized_rnn_tanh_cell_dynamic",
      "quantized::quantized_rnn_relu_cell_dynamic"},
     1,
     2,
     2}};

/// 3 samples of 6 elements, 8 hidden units.
TEST(Recurrent, Cells) {
  for (const auto& kind : kCells)
    for (const auto name : kind.names) {
      const auto cell = [name] {
        return op(name).tensor("input", {3, 6}).tensor("hx", {3, 8}).out({3, 8});
      };
      const int64_t macs = 3 * kind.gates * 8 * (6 + 8);
      EXPECT_EQ(counts(cell()), Counts(macs, 24 * kind.arithmetic)) << name;
      for (const auto bias : {"b_ih", "bias_ih"})
        EXPECT_EQ(cell().tensor(bias, {8}).count("other_flops"),
                  24 * (kind.arithmetic + kind.biases))
            << name;
      auto listed = op(name).tensor("input", {3, 6}).tensors("hx", {{3, 8}, {3, 5}});
      EXPECT_EQ(listed.out({3, 8}).count("macs"), macs) << name;
      EXPECT_EQ(op(name).tensor("input", {3, 6}).out({3, 8}).count("macs"), std::nullopt) << name;
      auto scalar = op(name).tensor("input", {3, 6}).tensor("hx", {});
      EXPECT_EQ(scalar.out({3, 8}).count("macs"), std::nullopt) << name;
    }
}

TEST(Recurrent, GatesWithoutTheirProducts) {
  const auto lstm = [] {
    return op("aten::_thnn_fused_lstm_cell").tensor("cx", {3, 8}).out({3, 8});
  };
  EXPECT_EQ(lstm().count("other_flops"), 24 * 22);
  EXPECT_EQ(lstm().tensor("input_bias", {32}).count("other_flops"), 24 * 30);
  EXPECT_TRUE(lstm().zero_by_rule("macs"));
  const auto gru = [] { return op("aten::_thnn_fused_gru_cell").tensor("hx", {3, 8}).out({3, 8}); };
  EXPECT_EQ(gru().count("other_flops"), 24 * 16);
  EXPECT_EQ(gru().tensor("input_bias", {24}).count("other_flops"), 24 * 22);
  EXPECT_TRUE(gru().zero_by_rule("macs"));
}

/// thop, ptflops, torchinfo: per unit and step 8 / 7 / 1, 10 / 7 / 1, 0; biases 8 / 6 / 2.
TEST(Recurrent, CellsByTheTools) {
  const auto by_tools = [](const char* name, bool biases) {
    auto n = op(name).tensor("input", {3, 6}).tensor("hx", {3, 8}).out({3, 8});
    if (biases) n.tensor("b_ih", {8});
    const auto macs = n.count("macs").value_or(0);
    std::vector<int64_t> more;
    for (const auto tool : {"thop", "ptflops", "torchinfo", "torchmeter", "torchstat"})
      more.push_back((n.count("flops", tool).value_or(-1) - macs) / 24);
    return more;
  };
  using Five = std::vector<int64_t>;
  EXPECT_EQ(by_tools("aten::lstm_cell", true), (Five{16, 18, 8, 0, 0}));
  EXPECT_EQ(by_tools("aten::lstm_cell", false), (Five{8, 10, 0, 0, 0}));
  EXPECT_EQ(by_tools("aten::gru_cell", true), (Five{13, 13, 6, 0, 0}));
  EXPECT_EQ(by_tools("aten::gru_cell", false), (Five{7, 7, 0, 0, 0}));
  EXPECT_EQ(by_tools("aten::rnn_relu_cell", true), (Five{3, 3, 2, 0, 0}));
}

}  // namespace
