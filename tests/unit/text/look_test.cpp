// The effect of the configuration's tables on tables and trees.
#include "plugins/reports/text/look/look.hpp"

#include <gtest/gtest.h>

#include <set>

#include "plugins/reports/text/look/options.hpp"
#include "plugins/reports/text/look/slots.hpp"

namespace {

using namespace text_report;

std::vector<std::string> texts(const std::vector<Text>& lines) {
  std::vector<std::string> out;
  for (const auto& line : lines) {
    out.push_back(render(line, false));
    out.back().pop_back();
  }
  return out;
}

Table small() {
  Table table;
  table.columns = {{"params", "p", false, "params"}, {"MACs", "f", true, "macs"}};
  const auto row = [](const char* id, const char* name, const char* type,
                      std::vector<ShownValue> values) {
    return Table::Row{id, Text(name), type, std::move(values), {}, false};
  };
  table.rows = {row("0", "Net", "", {{"25.56", "M"}, {"4.09", "G"}}),
                row("1", "├─ conv1", "Conv2d", {{"9.41", "K"}, {"118.01", "M"}}),
                row("2", "└─ fc", "Linear", {{"128", ""}, {"0", ""}})};
  return table;
}

std::vector<std::string> lines(const std::vector<GivenText>& given, size_t width = 0) {
  return texts(draw(small(), width, Look::make(given)).lines);
}

std::string wrong(const std::vector<GivenText>& given) {
  try {
    Look::make(given);
  } catch (const tmeter::Error& e) {
    return e.what();
  }
  return "";
}

TEST(Options, AreDeclaredOnceAndWithADescription) {
  std::set<std::string_view> keys;
  for (const auto& o : all_options()) {
    EXPECT_TRUE(keys.insert(o.spec.key).second) << o.spec.key;
    EXPECT_FALSE(o.spec.text.empty()) << o.spec.key;
  }
  for (const auto& o : all_options()) {
    if (o.spec.key.find('*') != o.spec.key.npos) continue;
    EXPECT_EQ(wrong({{std::string(o.spec.key), std::string(o.spec.default_value)}}), "")
        << o.spec.key;
  }
}

TEST(Options, SettingsOfOneItemPrecedeSettingsOfAll) {
  const auto look = Look::make({{"level.default.label", "d"},
                                {"level.2.label", "two"},
                                {"column.default.width", "7"},
                                {"column.macs.width", "9"}});
  const auto label = [](const Look& l, size_t depth) {
    return l.level(depth).label.text.parts.at(0).text;
  };
  EXPECT_EQ(label(look, 1), "d");
  EXPECT_EQ(label(look, 2), "two");
  EXPECT_EQ(label(look, 0), "name");  // the built-in label of the model, like torchmeter's
  EXPECT_EQ(look.column("macs").width, 9U);
  EXPECT_EQ(look.column("params").width, 7U);
  EXPECT_EQ(look.column("name").width, 0U);  // a column of the tree
  const auto all = Look::make({{"level.all.label", "all"}, {"level.2.label", "two"}});
  EXPECT_EQ(label(all, 0) + label(all, 2), "allall");
  EXPECT_EQ(label(Look::make({{"level.007.label", "seven"}}), 7), "seven");
}

TEST(Options, ExpandedLimitsTheDepth) {
  EXPECT_EQ(Look::make().depth(), std::nullopt);
  EXPECT_EQ(Look::make({{"level.3.expanded", "false"}, {"level.1.expanded", "false"}}).depth(), 1U);
  EXPECT_EQ(Look::make({{"level.default.expanded", "false"}}).depth(), 0U);
  EXPECT_EQ(Look::make({{"level.default.expanded", "false"}, {"level.0.expanded", "true"}}).depth(),
            1U);
}

TEST(Options, MistakesAreReported) {
  EXPECT_EQ(wrong({{"level.one.label", "x"}}),
            "there is no level 'one'; levels are default, all and numbers from 0");
  EXPECT_EQ(wrong({{"level.1234567.label", "x"}}),
            "there is no level '1234567'; levels are default, all and numbers from 0");
  EXPECT_EQ(wrong({{"table.box", "roundd"}}).substr(0, 56),
            "there is no box 'roundd' (did you mean 'rounded'?); ther");
  for (const char* text : {"", "x", "1,", "1,2,3", "-1", "101", "1,2,3,4,5", "1 2"})
    EXPECT_NE(wrong({{"table.padding", text}}), "") << text;
  EXPECT_EQ(wrong({{"table.row-styles", "none, rgb(1, 2, 3), dim"}}), "");
  EXPECT_NE(wrong({{"table.row-styles", "none, rgb(1, 2), dim"}}), "");
}

TEST(Tables, TheTreeIsNextToTheBoxOrInsideIt) {
  EXPECT_EQ(lines({{"table.box", "rounded"}}),
            (std::vector<std::string>{"                     ╭─────────┬──────────╮",
                                      "                     │  params │     MACs │",
                                      "                     ├─────────┼──────────┤",
                                      "0  Net               │ 25.56 M │   4.09 G │",
                                      "1  ├─ conv1  Conv2d  │  9.41 K │ 118.01 M │",
                                      "2  └─ fc     Linear  │   128   │      0   │",
                                      "                     ╰─────────┴──────────╯"}));
  EXPECT_EQ(lines({{"table.box", "ascii"}, {"table.tree", "inside"}})[4],
            "| 1 | ├─ conv1 | Conv2d |  9.41 K | 118.01 M |");
  EXPECT_EQ(lines({{"table.gap", "0"}})[2], "1  ├─ conv1  Conv2d 9.41 K  118.01 M");
}

TEST(Tables, ColumnsHaveTitlesSidesAndWidths) {
  EXPECT_EQ(lines({{"column.macs.title", "products"}})[0],
            "                      params  products");
  EXPECT_EQ(lines({{"column.macs.justify", "left"}})[3], "2  └─ fc     Linear    128    0");
  EXPECT_EQ(lines({{"column.macs.justify", "center"}})[3], "2  └─ fc     Linear    128       0");
  EXPECT_EQ(lines({{"column.macs.width", "12"}})[2], "1  ├─ conv1  Conv2d   9.41 K      118.01 M");
  EXPECT_EQ(lines({{"column.macs.show", "never"}})[0], "                      params");
  EXPECT_EQ(lines({{"column.id.show", "never"}, {"column.type.show", "never"}})[2],
            "├─ conv1   9.41 K  118.01 M");
}

TEST(Tables, BarsBeginBelowEachOtherForAnyJustification) {
  auto table = small();
  table.share_title = "share of MACs";
  table.rows[1].share = 1;
  table.rows[2].share = 0.25;
  for (const char* side : {"left", "center", "right"}) {
    const auto drawn =
        texts(draw(table, 0, Look::make({{"column.default.justify", side}, {"table.width", "90"}}))
                  .lines);
    EXPECT_EQ(Text(drawn[2].substr(0, drawn[2].find("█"))).width(),
              Text(drawn[3].substr(0, drawn[3].find("█"))).width())
        << side;
  }
}

TEST(Tables, TextThatDoesNotFitIsWrappedOrCutAsRequested) {
  const GivenText narrow{"column.macs.width", "5"};
  EXPECT_EQ(lines({narrow})[2], "1  ├─ conv1  Conv2d   9.41 K  118.…");
  EXPECT_EQ(lines({narrow, {"column.macs.overflow", "crop"}})[2],
            "1  ├─ conv1  Conv2d   9.41 K  118.0");
  const auto fold = lines({narrow, {"column.macs.overflow", "fold"}});
  EXPECT_EQ(fold[1], "0  Net               25.56 M   4.09");
  EXPECT_EQ(fold[2], "                                  G");
  EXPECT_EQ(fold[3], "1  ├─ conv1  Conv2d   9.41 K  118.0");
  EXPECT_EQ(fold[4], "                                1 M");
  const auto middle =
      lines({narrow, {"column.macs.overflow", "fold"}, {"column.params.vertical", "bottom"}});
  EXPECT_EQ(middle[3], "1  ├─ conv1  Conv2d           118.0");
  EXPECT_EQ(middle[4], "                      9.41 K    1 M");
  EXPECT_EQ(lines({narrow, {"column.macs.overflow", "fold"}, {"column.macs.no-wrap", "true"}})[2],
            "1  ├─ conv1  Conv2d   9.41 K  118.0");
  // A column that may be wrapped stays where others would be left out.
  EXPECT_EQ(draw(small(), 34, Look::make()).left_out.size(), 1U);
  EXPECT_TRUE(
      draw(small(), 34, Look::make({{"column.default.overflow", "fold"}})).left_out.empty());
}

TEST(Tables, GrowToTheRequestedWidth) {
  for (const auto& given :
       std::vector<std::vector<GivenText>>{{{"table.width", "60"}, {"table.box", "rounded"}},
                                           {{"table.min-width", "60"}, {"table.box", "square"}}})
    for (const auto& line : texts(draw(small(), 0, Look::make(given)).lines))
      if (line.ends_with("│")) {
        EXPECT_EQ(Text(line).width(), 60U) << line;
      }
  const auto wide = lines({{"table.expand", "true"}, {"table.box", "square"}}, 90);
  EXPECT_EQ(Text(wide[0]).width(), 90U);
  EXPECT_EQ(Text(lines({{"table.width", "30"}})[2]).width(), 30U);  // one column is left out
}

TEST(Tables, HaveTitlesAndCaptionsThatAreWrapped) {
  auto table = small();
  table.title = Text("a title that is longer than all that is below it");
  table.caption = Text("end");
  const auto drawn = texts(draw(table, 0, Look::make({{"table.caption-justify", "right"}})).lines);
  EXPECT_EQ(drawn[0], " a title that is longer than all that");
  EXPECT_EQ(drawn[1], "             is below it");
  EXPECT_EQ(drawn.back(), "                                   end");
}

TEST(Tables, RowsAlternateStylesWithTheirBackground) {
  const auto drawn = draw(small(), 0, Look::make({{"table.row-styles", "none, on blue"}})).lines;
  EXPECT_EQ(render(drawn[1], true).find("\x1b[44m"), std::string::npos);
  EXPECT_NE(render(drawn[2], true).find("\x1b[44m"), std::string::npos);
  EXPECT_EQ(render(drawn[3], true).find("\x1b[44m"), std::string::npos);
}

TEST(Tables, PaddingAndLeadingApplyToRowsNotToPartsOfABox) {
  Table table;
  for (const char* name : {"top", "padding", "inner", "bottom"})
    table.rows.push_back({"", Text(name), "", {}, {}, false});
  table.rows[1].frame = table.rows[3].frame = true;
  const auto drawn =
      texts(draw(table, 0, Look::make({{"table.padding", "1, 0"}, {"table.leading", "1"}})).lines);
  const std::vector<std::string> expected{"", "top", "", "padding", "", "", "inner", "", "bottom"};
  EXPECT_EQ(drawn, expected);
}

TEST(Tables, NoLineIsWiderThanTheTerminalInAnyLook) {
  const std::vector<std::vector<GivenText>> looks{
      {{"table.box", "double"}, {"table.padding", "0, 9"}},
      {{"table.width", "10000"}, {"table.box", "heavy"}},
      {{"column.default.width", "10000"}},
      {{"column.default.overflow", "fold"}, {"table.box", "rounded"}, {"table.tree", "inside"}},
      {{"table.gap", "100"}, {"table.min-width", "10000"}, {"table.leading", "2"}},
      {{"table.show-lines", "true"}, {"table.box", "markdown"}, {"table.expand", "true"}},
      {{"column.name.overflow", "fold"}, {"column.name.width", "1"}}};
  auto table = small();
  table.title = Text(std::string(300, 't'));
  table.rows[1].name = Text("├─ 卷积" + std::string(90, 'x'));
  for (const auto& given : looks) {
    const auto look = Look::make(given);
    for (size_t width = 1; width < 120; ++width)
      for (const auto& line : draw(table, width, look).lines)
        ASSERT_LE(line.width(), width) << given[0].path;
  }
}

TEST(Wrapping, BreaksAtSpacesOrInsideLongWords) {
  EXPECT_EQ(texts(wrap(Text("one two three"), 7)), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(texts(wrap(Text("abcdefgh"), 3)), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_EQ(texts(wrap(Text("卷积层"), 3)), (std::vector<std::string>{"卷", "积", "层"}));
  EXPECT_EQ(texts(wrap(Text("卷积"), 1)),
            (std::vector<std::string>{"卷", "积"}));  // cannot be narrower
  EXPECT_EQ(texts(wrap(Text(""), 1)).size(), 1U);
}

}  // namespace
