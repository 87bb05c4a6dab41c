// Values of options: declared by a plugin, given by a user as text.
#include "core/plugin_host/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/plugin_host/abi_text.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core::options_test {
namespace {
using testing::expect_error;

tmeter_option_desc declared(std::string_view key, int32_t type, std::string_view preset,
                            std::string_view choices = {}, double min = 1, double max = 0) {
  tmeter_option_desc out{};
  out.struct_size = sizeof out;
  out.key = to_abi(key);
  out.type = type;
  out.default_value = to_abi(preset);
  out.choices = to_abi(choices);
  out.min = min;
  out.max = max;
  return out;
}

Setting given(const std::string& value, bool list = false) {
  Setting out;
  out.origin = "--set p.key=" + value;
  out.value = value;
  out.list = list;
  return out;
}

const tmeter_option_desc kCount = declared("count", TMETER_OPTION_INT, "4", {}, 0, 10);
const tmeter_option_desc kShare = declared("share", TMETER_OPTION_FLOAT, "0.5", {}, 0, 1);
const tmeter_option_desc kFree = declared("free", TMETER_OPTION_INT, "-7");
const tmeter_option_desc kFlag = declared("flag", TMETER_OPTION_BOOL, "false");
const tmeter_option_desc kChoice =
    declared("choice", TMETER_OPTION_CHOICE, "torch", "torch fvcore full");
const tmeter_option_desc kText = declared("text", TMETER_OPTION_TEXT, "");

OptionValue value(const tmeter_option_desc& option, const std::string& text) {
  return option_value(option, text, "p.key");
}

void expect_refused(const tmeter_option_desc& option, const std::string& text,
                    const std::string& why) {
  expect_error(ErrorKind::kUsage, {"p.key=" + text + ": " + why}, [&] { value(option, text); });
}

TEST(Options, NumbersAreReadWholeAndWithinTheirRange) {
  EXPECT_EQ(value(kCount, "0").i, 0);
  EXPECT_EQ(value(kCount, "10").i, 10);
  EXPECT_EQ(value(kCount, "10").f, 10);
  EXPECT_EQ(value(kFree, "-9223372036854775808").i, INT64_MIN);
  EXPECT_EQ(value(kShare, "0.25").f, 0.25);
  EXPECT_EQ(value(kShare, "1e-3").f, 1e-3);
  for (const auto* text : {"", "x", "1.5", "4 ", " 4", "0x4", "9223372036854775808"})
    expect_refused(kCount, text, "a whole number is expected");
  for (const auto* text : {"", "nan", "inf", "0.5.", "1,5"})
    expect_refused(kShare, text, "a number is expected");
  expect_refused(kCount, "11", "the allowed range is 0 … 10");
  expect_refused(kCount, "-1", "the allowed range is 0 … 10");
  expect_refused(kShare, "1.01", "the allowed range is 0 … 1");
}

TEST(Options, FlagsHaveFourSpellingsOfEachValue) {
  for (const auto* text : {"true", "1", "yes", "on"}) EXPECT_TRUE(value(kFlag, text).b) << text;
  for (const auto* text : {"false", "0", "no", "off"}) EXPECT_FALSE(value(kFlag, text).b) << text;
  for (const auto* text : {"", "True", "2", "y"})
    expect_refused(kFlag, text, "true or false is expected");
}

TEST(Options, AChoiceIsOneOfTheAllowedWords) {
  EXPECT_EQ(value(kChoice, "fvcore").text, "fvcore");
  expect_refused(kChoice, "fvcor",
                 "one of these is expected: torch fvcore full (did you mean 'fvcore'?)");
  expect_refused(kChoice, "torch fvcore", "one of these is expected");
  expect_refused(kChoice, "", "one of these is expected");
  EXPECT_EQ(value(kText, "any text, 1.5").text, "any text, 1.5");
}

TEST(Options, DefaultsHoldUnlessGiven) {
  const tmeter_option_desc all[] = {kCount, kShare, kFlag, kChoice, kText};
  auto options = resolve_options("p", all, {{"count", given("7")}});
  EXPECT_EQ(options.size(), 5u);
  EXPECT_EQ(options.at("count").i, 7);
  EXPECT_EQ(options.at("share").f, 0.5);
  EXPECT_FALSE(options.at("flag").b);
  EXPECT_EQ(options.at("choice").text, "torch");
  EXPECT_TRUE(problem_of_default(kCount).empty());
  EXPECT_EQ(problem_of_default(declared("c", TMETER_OPTION_INT, "11", {}, 0, 10)),
            "the allowed range is 0 … 10");
}

TEST(Options, AMistakeNamesTheSettingAndTheNearestKey) {
  const tmeter_option_desc all[] = {kCount, kChoice};
  const auto refused = [&](const std::map<std::string, Setting>& settings,
                           const std::vector<std::string>& words) {
    expect_error(ErrorKind::kUsage, words, [&] { resolve_options("p", all, settings); });
  };
  refused({{"count", given("x")}}, {"--set p.key=x: a whole number is expected"});
  refused({{"count", given("1", true)}}, {"one value is expected, not a list"});
  refused({{"cuont", given("1")}},
          {"plugin 'p' has no option 'cuont'", "did you mean 'count'", "`tmeter plugin info p`"});
  expect_error(ErrorKind::kUsage, {"has no option 'a'", "it has none"}, [] {
    resolve_options("p", {}, {{"a", given("1")}});
  });
}

TEST(Options, TablesTakeNamesOfTheUser) {
  const tmeter_option_desc tables[] = {declared("column.*.width", TMETER_OPTION_INT, "0", {}, 0, 9),
                                       declared("column.default.width", TMETER_OPTION_INT, "1"),
                                       declared("theme.*", TMETER_OPTION_TEXT, "")};
  const auto out = take_tables(tables, {{"column.macs.width", given("3")},
                                        {"column.default.width", given("5")},
                                        {"column.a b.width", given("3")},
                                        {"column.macs", given("3")},
                                        {"theme.dim", given("grey")}});
  ASSERT_EQ(out.of_tables.size(), 3u);
  EXPECT_EQ(out.of_tables[0].path, "column.default.width");
  EXPECT_EQ(out.of_tables[0].declared, 1u);  // the exact declaration, before the pattern
  EXPECT_EQ(out.of_tables[1].path, "column.macs.width");
  EXPECT_EQ(out.of_tables[1].value.i, 3);
  EXPECT_EQ(out.of_tables[2].declared, 2u);
  EXPECT_EQ(out.flat.size(), 2u);  // not a path that a pattern accepts
  expect_error(ErrorKind::kUsage, {"the allowed range is 0 … 9"}, [&] {
    take_tables(tables, {{"column.macs.width", given("10")}});
  });
  expect_error(ErrorKind::kUsage, {"has no option 'column.macs.wdith'", "'column.macs.width'"},
               [&] {
                 resolve_options("p", {}, {{"column.macs.wdith", given("1")}}, tables);
               });
}

}  // namespace
}  // namespace tmeter::core::options_test
