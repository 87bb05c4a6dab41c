// Bytes of schemes and the choice between them, calculated by hand.
#include "plugins/advice/quantization/plan.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "plugins/advice/quantization/measure.hpp"

namespace {

using namespace quantization;

const tmeter::DType kFloat32(TMETER_DTYPE_FLOAT32), kFloat16(TMETER_DTYPE_FLOAT16);

Layout layout(std::vector<int64_t> dims, tmeter::DType type = kFloat32, int axis = 0) {
  return layout_of(type, dims, axis);
}
int64_t bytes(std::string_view scheme, const Layout& l) {
  return stored_bytes(kSchemes[*scheme_at(scheme)], l);
}

TEST(QuantizedBytes, ScalesAndZeroPointsArePaidFor) {
  const auto l = layout({3, 130});  // 390 elements, 2 groups of 128 in a row
  EXPECT_EQ(bytes("int8_tensor", l), 390 + 4);
  EXPECT_EQ(bytes("int8_channel", l), 390 + 3 * 4);
  EXPECT_EQ(bytes("int8_channel_asym", l), 390 + 3 * 5);
  EXPECT_EQ(bytes("int4_group128", l), 3 * 65 + 6 * 2);
  EXPECT_EQ(bytes("int4_group128_asym", l), 3 * 65 + 15);  // 6 · 20 bits
  EXPECT_EQ(bytes("nf4", l), 3 * 65 + 9 * 4);              // 3 blocks of 64 in a row
  EXPECT_EQ(bytes("mxfp4", l), 3 * 65 + 15);               // 5 blocks of 32 in a row
  EXPECT_EQ(bytes("bf16", l), 780);
}

TEST(QuantizedBytes, RowsOfAnOddNumberOfFourBitsBeginAtAByte) {
  EXPECT_EQ(bytes("int4_tensor", layout({2, 3})), 2 * 2 + 4);
}

TEST(QuantizedBytes, ChannelsOfTransposedConvolutionsAreDimOne) {
  EXPECT_EQ(bytes("int8_channel", layout({8, 4, 2, 2}, kFloat32, 1)), 128 + 4 * 4);
}

/// A weight with these SQNRs in dB; all other schemes have no SQNR.
Weight weight(std::vector<int64_t> dims, std::vector<std::pair<std::string_view, double>> sqnr,
              tmeter::DType type = kFloat32) {
  Weight w;
  w.layout = layout(std::move(dims), type);
  w.stored = w.layout.bytes();
  w.measured.sqnr.fill(std::numeric_limits<double>::quiet_NaN());
  for (const auto& [scheme, value] : sqnr) w.measured.sqnr[*scheme_at(scheme)] = value;
  return w;
}
Rules rules(double budget, std::vector<std::string_view> schemes) {
  Rules out{{}, budget};
  for (const auto s : schemes) out.allowed.push_back(*scheme_at(s));
  return out;
}
std::string_view chosen(const Weight& w, const Rules& r) {
  const auto choice = choose(w, r);
  return choice.scheme ? kSchemes[*choice.scheme].id : "none";
}

TEST(QuantizationPlan, TheSmallestSchemeWithinTheBudgetIsTaken) {
  const auto w =
      weight({64, 128}, {{"int4_group128", 19}, {"int4_group32", 21}, {"int8_channel", 41}});
  const std::vector<std::string_view> all{"int8_channel", "int4_group32", "int4_group128"};
  EXPECT_EQ(chosen(w, rules(18, all)), "int4_group128");
  EXPECT_EQ(chosen(w, rules(20, all)), "int4_group32");
  EXPECT_EQ(chosen(w, rules(30, all)), "int8_channel");
  EXPECT_EQ(chosen(w, rules(50, all)), "none");
  EXPECT_EQ(choose(w, rules(50, all)).bytes, 64 * 128 * 4);
}

TEST(QuantizationPlan, OfEqualBytesTheBetterSchemeWins) {
  const auto w = weight({64, 128}, {{"int8_channel", 30}, {"fp8_e4m3", 32}});
  EXPECT_EQ(chosen(w, rules(20, {"int8_channel", "fp8_e4m3"})), "fp8_e4m3");
}

TEST(QuantizationPlan, SchemesThatSaveNoBytesAreNotTaken) {
  const auto w = weight({1, 2}, {{"fp16", 60}, {"int8_channel", 60}}, kFloat16);
  EXPECT_EQ(chosen(w, rules(20, {"fp16", "int8_channel"})), "none");  // 4 bytes with either, or 6
}

TEST(QuantizationPlan, ConvolutionsAndSensitiveLayersGetNoFourBits) {
  const std::vector<std::pair<std::string_view, double>> sqnr{{"int4_group128", 25},
                                                              {"int8_channel", 41}};
  const auto budget = rules(20, {"int4_group128", "int8_channel"});
  EXPECT_EQ(chosen(weight({64, 16, 3, 3}, sqnr), budget), "int8_channel");
  auto last = weight({64, 128}, sqnr);
  EXPECT_EQ(chosen(last, budget), "int4_group128");
  last.sensitive = "output layer";
  EXPECT_EQ(chosen(last, budget), "int8_channel");
}

TEST(QuantizationPlan, ExactCastsReachEveryBudget) {
  const auto w = weight({4, 4}, {{"bf16", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(chosen(w, rules(200, {"bf16"})), "bf16");
}

TEST(OutlierChannels, ExceedTheMedianAndAreSortedByRatio) {
  const auto found = outliers_in({1, 7, 1, 9, 1, 1}, 6);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].index, 3u);
  EXPECT_DOUBLE_EQ(found[0].ratio, 9);
  EXPECT_EQ(found[1].index, 1u);
}

TEST(OutlierChannels, ZerosAndPairsHaveNoOutliers) {
  EXPECT_TRUE(outliers_in({0, 0, 0, 5}, 6).empty());
  EXPECT_TRUE(outliers_in({1, 100}, 6).empty());
}

}  // namespace
