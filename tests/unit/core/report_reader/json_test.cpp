// Reports are untrusted: JSON cut into pieces from the outside, and typed access to the pieces.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/report_reader/json_value.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core::report_reader {
namespace {
using testing::expect_error;
using Pair = std::pair<std::string, std::string>;

std::vector<Pair> members_of(std::string_view text) {
  std::vector<Pair> out;
  for_each_member(text, [&](auto key, auto value) { out.emplace_back(key, value); });
  return out;
}

std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> out;
  for_each_item(text, [&](auto item) { out.emplace_back(item); });
  return out;
}

TEST(JsonPieces, MembersKeepTheirTextAndOrder) {
  EXPECT_EQ(members_of(R"( { "b" : [1, {"}": 2}] ,"a":null,"" : "x\"]" } )"),
            (std::vector<Pair>{
                {R"("b")", R"([1, {"}": 2}])"}, {R"("a")", "null"}, {R"("")", R"("x\"]")"}}));
  EXPECT_TRUE(members_of("{}").empty());
  EXPECT_TRUE(members_of(" {\n} ").empty());
}

TEST(JsonPieces, ItemsMayBeAnyValue) {
  EXPECT_EQ(items_of(R"([1,-2e5 ,"a,b",[[]],{},true])"),
            (std::vector<std::string>{"1", "-2e5", R"("a,b")", "[[]]", "{}", "true"}));
  EXPECT_TRUE(items_of("[ ]").empty());
}

TEST(JsonPieces, BracketsAndQuotesInsideTextsDoNotCount) {
  EXPECT_EQ(items_of(R"(["]", "\\", "\"[", {"a]": "}"}])"),
            (std::vector<std::string>{R"("]")", R"("\\")", R"("\"[")", R"({"a]": "}"})"}));
}

TEST(JsonPieces, AMalformedFrameIsRefusedWithItsPlace) {
  const std::vector<std::pair<const char*, const char*>> kObjects{
      {"", "an object is expected, it ends"},
      {"[1]", "an object is expected, not '[1]'"},
      {R"({"a" 1})", "':' is expected, not '1}'"},
      {R"({a: 1})", "a key in quotes is expected"},
      {R"({"a": })", "a value is expected"},
      {R"({"a": 1 "b": 2})", "',' or '}' is expected"},
      {R"({"a": "x)", "the end of a string is expected, it ends"},
      {R"({"a": "x\)", "the end of a string is expected, it ends"},
      {R"({"a": [1, 2)", "a closing bracket is expected, it ends"},
      {R"({"a": 1,})", "a value is expected"},
      {R"({} x)", "nothing more is expected, not 'x'"}};
  for (const auto& [text, words] : kObjects)
    expect_error(ErrorKind::kModel, {"not valid JSON", words}, [&] { members_of(text); });
  expect_error(ErrorKind::kModel, {"a list is expected"}, [] { items_of("{}"); });
  expect_error(ErrorKind::kModel, {"',' or ']' is expected"}, [] { items_of("[1 2]"); });
}

TEST(JsonValue, EachTypeIsReadOrRefusedByName) {
  const std::string text =
      R"({"t": "x", "i": -3, "n": 18446744073709551615, "r": 0.5, "b": true, "l": [1], "o": {}, "z": null})";
  Parser parser(text);
  const auto m = parser.parse(text, "whole").members();
  EXPECT_EQ(m.at("t").text(), "x");
  EXPECT_EQ(m.at("i").integer(), -3);
  EXPECT_EQ(m.at("n").natural(), UINT64_MAX);
  EXPECT_EQ(m.at("r").real(), 0.5);
  EXPECT_EQ(m.at("i").real(), -3.0);
  EXPECT_TRUE(m.at("b").boolean());
  EXPECT_EQ(m.at("l").list().size(), 1u);
  EXPECT_TRUE(m.at("z").is_null());

  const auto refused = [](const char* words, auto&& f) {
    expect_error(ErrorKind::kModel, {words}, f);
  };
  refused("'t' must be a 64-bit integer", [&] { m.at("t").integer(); });
  refused("'n' must be a 64-bit integer", [&] { m.at("n").integer(); });
  refused("'i' must be a whole number that is not negative", [&] { m.at("i").natural(); });
  refused("'r' must be a 64-bit integer", [&] { m.at("r").integer(); });
  refused("'i' must be a string", [&] { m.at("i").text(); });
  refused("'i' must be true or false", [&] { m.at("i").boolean(); });
  refused("'t' must be a number", [&] { m.at("t").real(); });
  refused("'o' must be a list", [&] { m.at("o").list(); });
  refused("'l' must be an object", [&] { m.at("l").members(); });
  refused("there is no 'missing'", [&] { m.at("missing"); });
}

TEST(JsonValue, AnIndexIsBelowTheCount) {
  const std::string text = R"({"i": 3})";
  Parser parser(text);
  const auto i = parser.parse(text, "whole").members().at("i");
  EXPECT_EQ(i.index(4), 3u);
  expect_error(ErrorKind::kModel, {"'i' is 3, and there are only 3"}, [&] { i.index(3); });
}

TEST(JsonValue, AbsentAndNullDifferWhereItMatters) {
  const std::string text = R"({"z": null, "e": ""})";
  Parser parser(text);
  const auto m = parser.parse(text, "whole").members();
  EXPECT_TRUE(m.get("z").has_value());
  EXPECT_FALSE(m.find("z").has_value());
  EXPECT_FALSE(m.get("y").has_value());
  EXPECT_EQ(m.text("z"), "");
  EXPECT_EQ(m.text("y"), "");
  EXPECT_TRUE(m.find("e").has_value());
}

TEST(JsonValue, ARepeatedKeyIsRefusedInSmallAndLargeObjects) {
  for (const int keys : {1, 31, 32, 33, 500}) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += "\"k" + std::to_string(i) + "\": 0, ";
    const auto last = std::to_string(keys - 1);
    const auto unique = text + "\"other\": 1}", repeated = text + "\"k" + last + "\": 1}";
    Parser of_unique(unique), of_repeated(repeated);
    EXPECT_NO_THROW(of_unique.parse(unique, "whole").members());
    expect_error(ErrorKind::kModel, {"the key 'k" + last + "' occurs twice"},
                 [&] { of_repeated.parse(repeated, "whole").members(); });
  }
}

TEST(JsonValue, InvalidOrDeepJsonIsRefused) {
  for (const std::string text : {"{", "nul", "[1,]", "{\"a\": 01}", "\"\\x\"", ""}) {
    Parser parser(text);
    expect_error(ErrorKind::kModel, {"this is not valid JSON"}, [&] { parser.parse(text, "x"); });
  }
  const std::string deep(2000, '[');
  Parser parser(deep);
  expect_error(ErrorKind::kModel, {"nested more than 1,024 deep"},
               [&] { parser.parse(deep + std::string(2000, ']'), "x"); });
}

}  // namespace
}  // namespace tmeter::core::report_reader
