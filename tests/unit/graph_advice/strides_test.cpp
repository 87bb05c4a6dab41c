// Views of strided tensors against PyTorch's (tests/fixtures/make_advice.py, record_views).
#include "plugins/common/strides.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using plugins::Sizes;
using plugins::Strided;

nlohmann::json views() {
  std::ifstream in(std::string(TMETER_FIXTURES) + "/advice/expected.json");
  return nlohmann::json::parse(in)["views"];
}

Strided tensor_of(const nlohmann::json& row) {
  return {row["sizes"].get<Sizes>(), row["strides"].get<Sizes>()};
}

TEST(Strides, ViewsEqualPyTorchs) {
  size_t copies = 0;
  const auto rows = views();
  ASSERT_GE(rows.size(), 100u);
  for (const auto& row : rows) {
    const auto found = plugins::view_strides(tensor_of(row), row["to"].get<Sizes>());
    copies += row["view"].is_null();
    ASSERT_EQ(found.has_value(), !row["view"].is_null()) << row;
    if (!found) continue;
    // A dim of size 1 may have any stride.
    const auto to = row["to"].get<Sizes>(), expected = row["view"].get<Sizes>();
    ASSERT_EQ(found->size(), expected.size()) << row;
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(to[i] == 1 || (*found)[i] == expected[i]) << row;
  }
  EXPECT_GT(copies, 10u);
}

TEST(Strides, ContiguityEqualsPyTorchs) {
  for (const auto& row : views())
    EXPECT_EQ(plugins::is_contiguous(tensor_of(row)), row["contiguous"].get<bool>()) << row;
}

TEST(Strides, OfANewTensor) {
  EXPECT_EQ(plugins::contiguous({2, 3, 4}).strides, (Sizes{12, 4, 1}));
  EXPECT_EQ(plugins::contiguous({}).strides, Sizes{});
  EXPECT_TRUE(plugins::is_contiguous({{0, 5}, {7, 3}}));  // it has no elements
}

TEST(Strides, ViewsOfAnotherNumberOfElementsAreRefused) {
  EXPECT_FALSE(plugins::view_strides(plugins::contiguous({2, 3}), {5}));
  EXPECT_EQ(plugins::view_strides(plugins::contiguous({0, 3}), {3, 0}), (Sizes{1, 1}));
  EXPECT_EQ(plugins::view_strides(plugins::contiguous({}), {1, 1}), (Sizes{1, 1}));
}

/// A file may declare these; the sums wrap around, without undefined behaviour.
TEST(Strides, OverflowingSizesAreRefused) {
  constexpr int64_t kMost = INT64_MAX;
  EXPECT_FALSE(plugins::view_strides({{4, 4}, {kMost, kMost}}, {16}));
  EXPECT_FALSE(plugins::is_contiguous({{4, 4}, {kMost, 1}}));
  EXPECT_FALSE(plugins::product_of(Sizes{kMost, 2}));
  EXPECT_FALSE(plugins::view_strides({{4}, {1}}, {kMost, 2}));
  EXPECT_EQ(plugins::product_of(Sizes{kMost, 2, 0}), 0);  // zero elements, whatever the factors
  EXPECT_TRUE(plugins::view_strides({{kMost, 2, 0}, {0, 0, 1}}, {0, 5}));
}

}  // namespace
