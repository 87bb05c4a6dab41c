// The losses of pruning trained weights, against PyTorch's sort and its 2:4 sparsifier
// (tests/fixtures/make_trained_model.py).
#include <gtest/gtest.h>

#include <cmath>
#include <tmeter/cpp/numbers.hpp>

#include "plugins/advice/pruning/magnitudes.hpp"
#include "plugins/advice/pruning/structure.hpp"
#include "tests/support/trained_model.hpp"

namespace {

using namespace pruning;

const std::filesystem::path kTrained = std::filesystem::path(TMETER_FIXTURES) / "trained";

std::vector<float> floats_of(const tmeter_test::StoredTensor& t) {
  std::vector<float> out(t.bytes.size() / static_cast<size_t>(t.dtype.bytes()));
  tmeter::decode<float>(t.dtype, t.bytes, std::span(out));
  return out;
}

bool is_bfloat16(const tmeter_test::StoredTensor& t) {
  return t.dtype.id() == TMETER_DTYPE_BFLOAT16;
}

class Pruning : public testing::Test {
 protected:
  nlohmann::json expected = tmeter_test::json_file(kTrained / "expected.json");
  std::map<std::string, tmeter_test::StoredTensor> tensors =
      tmeter_test::stored_tensors(kTrained / "model.safetensors");

  /// Calls f(name, expected values, tensor).
  template <class F>
  void for_each_weight(F f) {
    ASSERT_GT(expected["tensors"].size(), 10u);
    for (const auto& [name, reference] : expected["tensors"].items())
      f(name, reference, tensors.at(name));
  }
};

/// 0.5 % of the loss: magnitudes are known to 7 bits; bfloat16 magnitudes are exact.
TEST_F(Pruning, LossOfNormIsThatOfPyTorchsSort) {
  for_each_weight([&](const auto& name, const auto& reference, const auto& t) {
    Magnitudes magnitudes(is_bfloat16(t));
    magnitudes.add(floats_of(t));
    const auto curve = magnitudes.curve();
    const double tolerance = is_bfloat16(t) ? 1e-9 : 5e-3;
    for (size_t i = 0; i < kShares.size(); ++i) {
      EXPECT_EQ(curve[i].share, expected["shares"][i].template get<double>());
      const double loss = reference["pruning"]["lost_norm"][i].template get<double>();
      EXPECT_NEAR(curve[i].loss, loss, tolerance * loss + 1e-9) << name << " " << kShares[i];
    }
  });
}

TEST_F(Pruning, GlobalRankingSortsAllWeightsTogether) {
  Magnitudes all(false);
  for_each_weight([&](const auto&, const auto&, const auto& t) {
    Magnitudes one(false);
    one.add(floats_of(t));
    all.merge(one);
  });
  const auto curve = all.curve();
  for (size_t i = 0; i < kShares.size(); ++i) {
    const double loss = expected["global_lost_norm"][i].get<double>();
    EXPECT_NEAR(curve[i].loss, loss, 5e-3 * loss) << kShares[i];
  }
}

void expect_all_near(const std::vector<double>& found, const nlohmann::json& reference,
                     const std::string& what) {
  ASSERT_EQ(found.size(), reference.size()) << what;
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], reference[i].get<double>(), 1e-9 * reference[i].get<double>())
        << what << i;
}

TEST_F(Pruning, NormsOfFiltersAndInputsAreThoseOfPyTorch) {
  for_each_weight([&](const auto& name, const auto& reference, const auto& t) {
    const bool transposed = reference["channel_axis"].template get<int>() == 1;
    Structure structure(shape_of(t.dims, transposed), 0, true);
    structure.add(0, floats_of(t));
    const auto rows = structure.row_norms(), columns = structure.column_norms();
    expect_all_near(transposed ? columns : rows, reference["pruning"]["filter_norms"],
                    name + " filter ");
    expect_all_near(transposed ? rows : columns, reference["pruning"]["input_norms"],
                    name + " input ");
  });
}

TEST_F(Pruning, TwoOfFourKeepsTheElementsOfPyTorchsSparsifier) {
  size_t with_fours = 0;
  for_each_weight([&](const auto& name, const auto& reference, const auto& t) {
    const bool transposed = reference["channel_axis"].template get<int>() == 1;
    if (transposed) return;  // inputs do not lie along dim 1
    Structure structure(shape_of(t.dims, false), 0, true);
    structure.add(0, floats_of(t));
    const auto kept = structure.share_kept_by_2_4();
    const auto& share = reference["pruning"]["kept_2_4"];
    ASSERT_EQ(kept.has_value(), !share.is_null()) << name;
    if (!kept) return;
    ++with_fours;
    EXPECT_NEAR(*kept, share.template get<double>(), 1e-9) << name;
  });
  EXPECT_GT(with_fours, 5u);
}

TEST_F(Pruning, PartsAndSplitRowsGiveTheResultOfWholeTensors) {
  const auto& t = tensors.at("fc1.weight");
  const auto x = floats_of(t);
  const auto shape = shape_of(t.dims, false);
  Structure whole(shape, 0, true);
  whole.add(0, x);
  for (const bool whole_rows : {true, false}) {
    const size_t cut = whole_rows ? static_cast<size_t>(shape.row) * 30 : 4096;
    Structure parts(shape, 0, whole_rows);
    parts.add(0, std::span(x).first(cut));
    Structure rest(shape, static_cast<int64_t>(cut), whole_rows);
    rest.add(static_cast<int64_t>(cut), std::span(x).subspan(cut));
    parts.merge(rest);
    EXPECT_NEAR(*parts.share_kept_by_2_4(), *whole.share_kept_by_2_4(), 1e-12);
    const auto a = parts.row_norms(), b = whole.row_norms();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * b[i]);
  }
}

TEST_F(Pruning, TheDeadFilterIsNamed) {
  const auto& t = tensors.at("conv.weight");
  Structure structure(shape_of(t.dims, false), 0, true);
  structure.add(0, floats_of(t));
  EXPECT_EQ(dead_filters(structure.row_norms()), std::vector<size_t>{5});
}

TEST(PruningNorms, LowFiltersAreBelowATenthOfTheMedianAndNotDead) {
  EXPECT_DOUBLE_EQ(low_share({1, 1, 1, 0.05, 0}), 0.2);
  EXPECT_EQ(dead_filters({1, 1, 1, 0.05, 0}), std::vector<size_t>{4});
  EXPECT_EQ(dead_filters({0, 0, 0}), (std::vector<size_t>{0, 1, 2}));
}

TEST(PruningMagnitudes, NaNIsFound) {
  Magnitudes m(false);
  m.add(std::vector<float>{1, NAN});
  EXPECT_FALSE(m.finite());
}

/// By hand: of 1 … 10 the power is 385; 1, 2, 3 are 14 of it, with 4 it is 30: 7.8 %.
TEST(PruningMagnitudes, ShareWithinALossIsTheLargestThatKeepsIt) {
  Magnitudes m(true);
  m.add(std::vector<float>{10, -9, 8, 7, -6, 5, 4, 3, 2, -1});
  EXPECT_DOUBLE_EQ(m.within(std::sqrt(14.5 / 385)).share, 0.3);
  EXPECT_DOUBLE_EQ(m.within(std::sqrt(30.5 / 385)).share, 0.4);
  EXPECT_EQ(m.within(std::sqrt(14.5 / 385)).threshold, 4);
  EXPECT_EQ(m.within(1).share, 1);
}

TEST(PruningMagnitudes, ShareBelowAThresholdIsInterpolated) {
  Magnitudes m(true);
  std::vector<float> x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  m.add(x);
  EXPECT_NEAR(share_below(m.curve(), 45), 0.45, 0.02);
}

}  // namespace
