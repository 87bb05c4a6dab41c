// The small readers of text: targets, non-finite numbers, messages; and the table of names.
#include <gtest/gtest.h>

#include "document.hpp"
#include "json_util.hpp"
#include "name_map.hpp"
#include "node_view.hpp"
#include "plugins/loaders/common/json_text.hpp"

namespace pt2 {
namespace {

void expect_target(std::string_view text, std::string_view op, std::string_view overload) {
  const auto t = parse_target(text);
  EXPECT_EQ(t.op, op);
  EXPECT_EQ(t.overload, overload);
}

TEST(Pt2Target, SplitsOperatorAndOverload) {
  expect_target("torch.ops.aten.conv2d.default", "aten::conv2d", "");
  expect_target("torch.ops.aten.max.dim", "aten::max", "dim");
  expect_target("torch.ops.higher_order.cond", "higher_order::cond", "");
  expect_target("_operator.mul", "_operator::mul", "");
  expect_target("torch.sym_max", "torch::sym_max", "");
  expect_target("#vendor:op", "vendor::op", "");
  expect_target("name", "python::name", "");
}

TEST(JsonOfPython, WordsBecomeTexts) {
  std::string out;
  EXPECT_TRUE(loading::replace_additions_of_python(
      R"({"a": -Infinity, "b": [NaN, Infinity], "c": "NaN \" Infinity"})", out));
  EXPECT_EQ(out, R"({"a": "-Infinity", "b": ["NaN", "Infinity"], "c": "NaN \" Infinity"})");
}

TEST(JsonOfPython, IntegersBeyond64BitsBecomeReals) {
  std::string out;
  EXPECT_TRUE(loading::replace_additions_of_python(
      R"([18446744073709551616, -9223372036854775809, "18446744073709551616", 1])", out));
  EXPECT_EQ(out, R"([18446744073709551616e0, -9223372036854775809e0, "18446744073709551616", 1])");
}

TEST(JsonOfPython, OtherTextIsLeftAlone) {
  std::string out;
  for (const char* text :
       {"", "{\"a\": -1}", "\"Infinity", "\"\\", "-", "[Inf]", "18446744073709551615",
        "-9223372036854775808", "1000000000000000000000.5", "1000000000000000000000e-3"})
    EXPECT_FALSE(loading::replace_additions_of_python(text, out)) << text;
}

TEST(Pt2NameMap, FindsInsertedNames) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(i));
  NameMap<int> map;
  EXPECT_EQ(map.find("n1"), nullptr);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(map.insert(names[static_cast<size_t>(i)], i).second);
  EXPECT_FALSE(map.insert("n7", 0).second);
  EXPECT_EQ(*map.insert("n7", 0).first, 7);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(*map.find(names[static_cast<size_t>(i)]), i);
  EXPECT_EQ(map.find("m"), nullptr);
  EXPECT_EQ(map.entries().size(), 1000u);
}

TEST(Pt2NameMap, FindsNamesFromAnyPosition) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(i));
  NameMap<int> map;
  for (int i = 0; i < 1000; ++i) map.insert(names[static_cast<size_t>(i)], i);
  uint32_t last = 0;
  EXPECT_EQ(NameMap<int>().find_next("n0", last), 0u);
  for (const size_t i : {0, 1, 2, 500, 501, 999, 0, 7, 7, 8}) {
    EXPECT_EQ(map.find_next(names[i], last), i + 1);
    EXPECT_EQ(last, i + 1);
  }
  EXPECT_EQ(map.find_next("m", last), 0u);  // the position is kept
  EXPECT_EQ(last, 9u);
  last = 5000;  // a position from another map
  EXPECT_EQ(map.find_next("n3", last), 4u);
}

TEST(Pt2NameMap, DistinguishesTextsWithOneHash) {
  // 300,000 strings hashed to 32 bits: about ten pairs collide.
  std::vector<std::string> names;
  for (int i = 0; i < 300'000; ++i) names.push_back("layer." + std::to_string(i) + ".weight");
  NameMap<size_t> map;
  for (size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(map.insert(names[i], i).second);
  for (size_t i = 0; i < names.size(); ++i) ASSERT_EQ(*map.find(names[i]), i);
}

TEST(Pt2BadFile, MessagesStayShortAndPrintable) {
  EXPECT_EQ(in_quotes("a\nb\x1b"), "'a?b?'");
  EXPECT_LT(in_quotes(std::string(1000, 'x')).size(), 100u);
  const std::string umlauts = [] {
    std::string s;
    for (int i = 0; i < 100; ++i) s += "ü";
    return "x" + s;
  }();
  EXPECT_NE(in_quotes(umlauts).find("ü…'"), std::string::npos);  // not cut inside a character
  try {
    within([] { return std::string(600, 'p'); }, [] { throw BadFile("what", "do"); });
    FAIL();
  } catch (const BadFile& e) {
    EXPECT_LT(std::string_view(e.what()).size(), 500u);
    EXPECT_TRUE(std::string_view(e.what()).ends_with(": what"));
    EXPECT_EQ(e.advice(), "do");
  }
}

}  // namespace
}  // namespace pt2
