// Workspaces of single operators against the bytes that PyTorch's allocator handed out
// (tests/fixtures/record_workspaces.py; a machine with AVX-512).
#include "plugins/metrics/memory/workspaces.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fake_host.hpp"

namespace {

using fake::Dims;
using nlohmann::json;

json recorded() {
  std::ifstream in(std::string(TMETER_FIXTURES) + "/workspaces.json");
  return json::parse(in)["calls"];
}

const json& part(const json& call, const char* key) {
  static const json none = json::object();
  return call.contains(key) ? call[key] : none;
}

fake::Op made_of(const json& call) {
  auto op = fake::op(call["op"]);
  for (const auto& [name, dims] : call["tensors"].items()) op.tensor(name, dims.get<Dims>());
  for (const auto& [name, n] : part(call, "numbers").items()) op.number(name, n);
  for (const auto& [name, list] : part(call, "lists").items()) op.numbers(name, list.get<Dims>());
  for (const auto& [name, on] : part(call, "flags").items())
    if (on.get<bool>()) op.flag(name);
  if (call.contains("params")) op.tensors("params", call["params"].get<std::vector<Dims>>());
  if (call.contains("mask") && !call["mask"].is_null())
    op.arg("attn_mask", fake::tensor(call["mask"].get<Dims>(), TMETER_DTYPE_BOOL));
  for (const auto& dims : call["out"]) op.out(dims.get<Dims>());
  return op;
}

int64_t workspace(const fake::Op& op, int64_t threads = 2, int64_t block = 16) {
  (void)op.count("output_bytes");  // starts the host
  return memory::workspace_of(tmeter::Node(op.handle()), {threads, block, nullptr}).value();
}

/// Exact to the byte; an LSTM within 4 KB, as addresses of blocks in oneDNN's scratchpad follow no
/// rule.
TEST(Workspaces, EqualTheAllocationsOfPyTorch) {
  const auto calls = recorded();
  ASSERT_GE(calls.size(), 40u);
  for (const auto& call : calls) {
    const auto found = workspace(made_of(call), call["threads"]);
    const auto expected = call["workspace"].get<int64_t>();
    if (call["op"] == "aten::lstm") {
      EXPECT_LE(found, expected) << call;
      EXPECT_GE(found, expected - 4096) << call;
    } else {
      EXPECT_EQ(found, expected) << call;
    }
  }
}

fake::Op convolution(Dims image, Dims weight, Dims out) {
  auto op = fake::op("aten::conv2d");
  op.tensor("input", std::move(image)).tensor("weight", std::move(weight));
  return op.out(std::move(out));
}

/// 24 → 40 channels of 56 × 56, 3 × 3: blocks of 8 need no padding. Image 24 · 3136 · 4 = 301,056,
/// weights 40 · 24 · 9 · 4 = 34,560, result 501,760: 837,376 during the computation; then the
/// result twice, 1,003,520. Beyond the result: 501,760.
TEST(Workspaces, BlocksOfChannelsDependOnTheMachine) {
  const auto op =
      convolution({1, 24, 56, 56}, {40, 24, 3, 3}, {1, 40, 56, 56}).numbers("padding", {1, 1});
  EXPECT_EQ(workspace(op, 2, 8), 501760);
  EXPECT_EQ(workspace(op, 2, 16), 602112);  // 48 · 3136 · 4
}

/// 1 × 1 with stride 2 on 256 × 56 × 56, 512 filters: image 3,211,264, weights 524,288, result
/// 1,605,632, and per thread 256 · 28 · 28 · 4 = 802,816 gathered. Beyond the result: 3,735,552 +
/// threads · 802,816. (PyTorch on 1, 2 and 4 threads: 128 more, for the alignment of the
/// scratchpad.)
TEST(Workspaces, GatheredPlacesAreAllocatedForEachThread) {
  const auto op =
      convolution({1, 256, 56, 56}, {512, 256, 1, 1}, {1, 512, 28, 28}).numbers("stride", {2, 2});
  for (const int64_t threads : {1, 2, 4})
    EXPECT_EQ(workspace(op, threads), 3735552 + threads * 802816);
}

TEST(Workspaces, OperatorsWithoutARuleTakeNothing) {
  EXPECT_EQ(workspace(fake::op("aten::gelu").tensor("self", {5}).out({5})), 0);
  EXPECT_EQ(workspace(fake::op("acme::conv2d")
                          .tensor("input", {1, 3, 9, 9})
                          .tensor("weight", {4, 3, 3, 3})
                          .out({1, 4, 7, 7})),
            0);
  auto half = fake::op("aten::max_pool2d");
  half.arg("self", fake::tensor({1, 2, 8, 8}, TMETER_DTYPE_FLOAT16));
  EXPECT_EQ(workspace(half.out({1, 2, 4, 4}, TMETER_DTYPE_FLOAT16)), 0);
}

/// Arguments that a file may contain.
TEST(Workspaces, OddArgumentsAreHandled) {
  const Dims odd[] = {{},        {0},        {1},          {1, 0},
                      {0, 0, 0}, {1, -1, 3}, {0, 4, 5, 6}, {1, 1, 1, 1, 1, 1}};
  const char* names[] = {"conv1d",     "conv2d",     "conv3d",     "_convolution",
                         "max_pool2d", "lstm",       "gru",        "rnn_tanh",
                         "batch_norm", "layer_norm", "group_norm", "softmax",
                         "matmul",     "linear",     "roll",       "scaled_dot_product_attention"};
  for (const auto* name : names) {
    for (const auto& a : odd) {
      for (const auto& b : odd) {
        auto op = fake::op(std::string("aten::") + name);
        op.tensor("input", a).tensor("weight", b).tensor("self", a).tensor("other", b);
        op.tensor("query", a).tensor("key", b).tensor("value", b).tensors("params", {b, a});
        op.number("num_layers", 1)
            .number("groups", -3)
            .numbers("stride", {})
            .number("padding", 1)
            .out(b);
        EXPECT_GE(workspace(op), 0) << name;
      }
    }
  }
}

}  // namespace
