// Simulated quantization of trained weights against the results of PyTorch 2.15, torchao 0.18 and
// bitsandbytes 0.50 (tests/fixtures/make_trained_model.py).
#include <gtest/gtest.h>

#include "measured.hpp"
#include "plugins/advice/quantization/plan.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

using namespace quantization;
using tmeter_test::stored_tensors;

const std::filesystem::path kTrained = std::filesystem::path(TMETER_FIXTURES) / "trained";

TEST(QuantizationSqnr, EverySchemeOnEveryTensorIsWithinAHundredthOfADecibelOfPyTorch) {
  const auto expected = tmeter_test::json_file(kTrained / "expected.json");
  const auto tensors = stored_tensors(kTrained / "model.safetensors");
  ASSERT_EQ(expected["tensors"].size(), 13u);
  for (const auto& [name, reference] : expected["tensors"].items()) {
    const auto result = measured(tensors.at(name), reference["channel_axis"].get<int>());
    ASSERT_EQ(reference["sqnr"].size(), kSchemeCount);
    for (size_t i = 0; i < kSchemeCount; ++i) {
      const auto& sqnr = reference["sqnr"][std::string(kSchemes[i].id)];
      const auto what = name + " " + std::string(kSchemes[i].id);
      if (sqnr.is_null()) {  // exact
        EXPECT_EQ(result.sqnr[i], std::numeric_limits<double>::infinity()) << what;
      } else {
        EXPECT_NEAR(result.sqnr[i], sqnr.get<double>(), 0.01) << what;
      }
    }
  }
}

TEST(QuantizationSqnr, TheCallsOfTorchaoThatTheAdviceNamesHaveTheReportedSqnr) {
  const auto expected = tmeter_test::json_file(kTrained / "expected.json");
  const auto tensors = stored_tensors(kTrained / "model.safetensors");
  ASSERT_GT(expected["torchao"].size(), 5u);
  for (const auto& [scheme, weights] : expected["torchao"].items()) {
    for (const auto& [name, sqnr] : weights.items()) {
      const auto result = measured(tensors.at(name), 0);
      EXPECT_NEAR(result.sqnr[*scheme_at(scheme)], sqnr.get<double>(), 0.01) << name << scheme;
    }
  }
}

/// Every instruction set of this machine, not only the best.
TEST(QuantizationSqnr, OlderProcessorsGiveTheSameValues) {
  const auto tensors = stored_tensors(kTrained / "model.safetensors");
  const auto best = measured(tensors.at("fc1.weight"), 0);
  instruction_sets::each([&] {
    const auto result = measured(tensors.at("fc1.weight"), 0);
    for (size_t i = 0; i < kSchemeCount; ++i) EXPECT_NEAR(result.sqnr[i], best.sqnr[i], 1e-4);
  });
}

/// A tensor of one row is cut like the host cuts rows above 4 MiB.
TEST(QuantizationSqnr, RowsCutIntoChunksAndPartsGiveTheResultOfWholeRows) {
  const auto tensors = stored_tensors(kTrained / "model.safetensors");
  for (const auto* name : {"head.weight", "embed.weight", "conv.weight", "up.weight"}) {
    const auto& t = tensors.at(name);
    const int axis = std::string_view(name) == "up.weight" ? 1 : 0;
    const auto whole = measured(t, axis);
    for (const int64_t cut : {4096, 5 * 4096}) {
      const auto split = measured_in_pieces(t, axis, cut);
      for (size_t i = 0; i < kSchemeCount; ++i) {
        if (std::isinf(whole.sqnr[i])) continue;
        EXPECT_NEAR(split.sqnr[i], whole.sqnr[i], 1e-4) << name << " " << kSchemes[i].id;
      }
    }
  }
}

TEST(QuantizationSqnr, PartsMergedInOrderGiveTheResultOfOnePart) {
  const auto tensors = stored_tensors(kTrained / "model.safetensors");
  const auto& t = tensors.at("conv.weight");
  const auto one = measured(t, 0), three = measured(t, 0, 12);  // 32 rows in parts of 12
  for (size_t i = 0; i < kSchemeCount; ++i) EXPECT_NEAR(one.sqnr[i], three.sqnr[i], 1e-5);
}

tmeter_test::StoredTensor floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  tmeter_test::StoredTensor t{tmeter::DType(TMETER_DTYPE_FLOAT32), std::move(dims), {}};
  t.bytes.resize(values.size() * sizeof(float));
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

double sqnr_of(const Measurements& f, std::string_view id) { return f.sqnr[*scheme_at(id)]; }

TEST(QuantizationSqnr, ZerosAndNaNHaveNoValues) {
  const auto zero = measured(floats({2, 3}, {0, 0, 0, 0, 0, 0}), 0);
  EXPECT_TRUE(zero.zero);
  const auto nan = measured(floats({2, 3}, {1, 2, NAN, 4, 5, 6}), 0);
  const auto infinite = measured(floats({2, 3}, {1, 2, 3, 4, -INFINITY, 6}), 0);
  EXPECT_FALSE(nan.finite);
  EXPECT_FALSE(infinite.finite);
  for (size_t i = 0; i < kSchemeCount; ++i) {
    EXPECT_TRUE(std::isnan(zero.sqnr[i]));
    EXPECT_TRUE(std::isnan(nan.sqnr[i]));
    EXPECT_TRUE(std::isnan(infinite.sqnr[i]));
  }
}

/// By hand: -1 … 1 in steps of 2/15 per row is the range of int4: absmax / 7.5 = 1/7.5. But the
/// symmetric grid has codes -8 … 7, so 0.9 and 0.1 are kept and 1 is not.
TEST(QuantizationSqnr, SymmetricGridIsThatOfPyTorchObservers) {
  // absmax 7.5: step 1. 7.5 → round half even 8 → 7: error 0.5; -7.5 → -8: error 0.5; 3 is exact.
  // Σx² = 56.25 + 56.25 + 9 = 121.5, Σe² = 0.5: 10 log10(243) = 23.8561 dB
  const auto result = measured(floats({1, 3}, {7.5f, -7.5f, 3.f}), 0);
  EXPECT_NEAR(sqnr_of(result, "int4_channel"), 10 * std::log10(243.0), 1e-4);
}

/// By hand: the range 0 … 15 in 15 steps is exact; with -0.4 the step is 15.4/15 and no element is
/// exact.
TEST(QuantizationSqnr, AsymmetricGridUsesTheWholeRange) {
  const auto result = measured(floats({1, 4}, {0, 15, 7, 3}), 0);
  EXPECT_EQ(sqnr_of(result, "int4_channel_asym"), std::numeric_limits<double>::infinity());
}

TEST(QuantizationSqnr, ScaleOfTheWeightsDoesNotMatter) {
  std::vector<float> x(256), tiny(256), huge(256);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<float>(i * i));
    tiny[i] = x[i] * 0x1p-90f;
    huge[i] = x[i] * 0x1p100f;
  }
  const auto plain = measured(floats({2, 128}, x), 0);
  const auto small = measured(floats({2, 128}, tiny), 0);
  const auto large = measured(floats({2, 128}, huge), 0);
  for (size_t i = 0; i < kSchemeCount; ++i) {
    if (kSchemes[i].id == "fp16") continue;  // it underflows and overflows
    EXPECT_NEAR(small.sqnr[i], plain.sqnr[i], 1e-4) << kSchemes[i].id;
    EXPECT_NEAR(large.sqnr[i], plain.sqnr[i], 1e-4) << kSchemes[i].id;
  }
  EXPECT_NEAR(sqnr_of(small, "fp16"), 0, 1e-9);     // all become zero
  EXPECT_TRUE(std::isnan(sqnr_of(large, "fp16")));  // all become infinite
}

TEST(QuantizationSqnr, Float16HoldsNumbersThatRoundTo65504) {
  EXPECT_TRUE(std::isnan(sqnr_of(measured(floats({1, 2}, {65520.f, 1.f}), 0), "fp16")));
  EXPECT_FALSE(std::isnan(sqnr_of(measured(floats({1, 2}, {65519.f, 1.f}), 0), "fp16")));
}

}  // namespace
