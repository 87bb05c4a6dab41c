// The four conventions on one operator. fvcore's counts are those of FlopCountAnalysis 0.1.5 on
// the same call.
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_host.hpp"

namespace {

using fake::op;

fake::Op conv() {
  return op("aten::conv2d")
      .tensor("input", {1, 3, 8, 8})
      .tensor("weight", {4, 3, 3, 3})
      .tensor("bias", {4})
      .out({1, 4, 6, 6});
}
fake::Op norm(const char* name, bool weight) {
  auto n = op(name).tensor("input", {2, 8, 12, 12}).out({2, 8, 12, 12});
  if (weight) n.tensor("weight", {8}).tensor("bias", {8});
  return n;
}
fake::Op einsum(const char* equation, std::vector<fake::Dims> shapes) {
  return op("aten::einsum").text("equation", equation).tensors("tensors", shapes).out({1});
}

TEST(Convention, FactorPerMac) {
  EXPECT_EQ(conv().count("macs"), 3888);
  EXPECT_EQ(conv().count("flops", "torch"), 2 * 3888);
  EXPECT_EQ(conv().count("flops", "torchvision"), 3888);
  EXPECT_EQ(conv().count("flops", "fvcore"), 3888);
  EXPECT_EQ(conv().count("flops", "full"), 2 * 3888 + 144);
}

TEST(Convention, UnknownMacsMakeUnknownFlops) {
  for (const auto c : {"torch", "torchvision", "fvcore", "full"})
    EXPECT_EQ(op("acme::x").tensor("self", {4}).out({4}).count("flops", c), std::nullopt) << c;
}

TEST(Convention, AnUnknownConventionIsRefused) {
  EXPECT_THROW(conv().count("flops", "guess"), std::runtime_error);
}

TEST(Fvcore, Norms) {
  EXPECT_EQ(norm("aten::batch_norm", true).count("flops", "fvcore"), 4608);
  EXPECT_EQ(norm("aten::batch_norm", false).count("flops", "fvcore"), 2304);
  EXPECT_EQ(norm("aten::batch_norm", true).flag("training").count("flops", "fvcore"), 11520);
  EXPECT_EQ(norm("aten::layer_norm", true).count("flops", "fvcore"), 11520);
  EXPECT_EQ(norm("aten::group_norm", false).count("flops", "fvcore"), 9216);
  EXPECT_EQ(norm("aten::rms_norm", true).count("flops", "fvcore"), 0);
}

TEST(Fvcore, MatmulDoesNotSeeTheLeftSideBroadcast) {
  const auto n = op("aten::matmul")
                     .tensor("self", {2, 1, 6, 16})
                     .tensor("other", {4, 16, 10})
                     .out({2, 4, 6, 10});
  EXPECT_EQ(n.count("macs"), 7680);
  EXPECT_EQ(n.count("flops", "fvcore"), 1920);
}

TEST(Fvcore, EinsumIsNumpysPrintedCountHalved) {
  EXPECT_EQ(einsum("i,j->ij", {{10}, {16}}).count("flops", "fvcore"), 80);
  EXPECT_EQ(einsum("bld,de,bme->blm", {{2, 6, 16}, {16, 16}, {2, 6, 16}}).count("flops", "fvcore"),
            4224);
  EXPECT_EQ(einsum("abc,abd->acd", {{2, 3, 4}, {2, 3, 5}}).count("flops", "fvcore"), 120);
}

TEST(Fvcore, TextPaddingIsNotCounted) {
  const auto n = op("aten::conv1d.padding")
                     .tensor("input", {2, 8, 32})
                     .tensor("weight", {16, 2, 3})
                     .out({2, 16, 32});
  EXPECT_EQ(n.count("macs"), 6144);
  EXPECT_EQ(n.count("flops", "fvcore"), 0);
}

TEST(Fvcore, OmittedOperatorsAreNamedInAWarning) {
  auto n = op("aten::baddbmm")
               .tensor("self", {1})
               .tensor("batch1", {2, 3, 4})
               .tensor("batch2", {2, 4, 5})
               .out({2, 3, 5});
  EXPECT_EQ(n.count("flops", "fvcore"), 0);
  EXPECT_TRUE(std::any_of(fake::warnings().begin(), fake::warnings().end(), [](const auto& w) {
    return w.find("aten::baddbmm") != std::string::npos;
  }));
}

}  // namespace
