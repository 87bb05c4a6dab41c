#include <gtest/gtest.h>

#include "plugins/reports/text/look/look.hpp"

namespace {

using namespace text_report;

std::vector<std::string> plain(const std::vector<Text>& lines) {
  std::vector<std::string> out;
  for (const auto& line : lines) {
    out.push_back(render(line, false));
    out.back().pop_back();
  }
  return out;
}

size_t widest(const std::vector<Text>& lines) {
  size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.width());
  return width;
}

Table::Row row(const std::string& id, const std::string& name, const std::string& type,
               std::vector<ShownValue> values, std::optional<double> share = {}) {
  return {id, Text(name), type, std::move(values), share, false};
}

Table small_table() {
  Table table;
  table.share_title = "share";
  table.short_share_title = "of it";
  table.columns = {{"params", "p", false}, {"MACs", "f", true}};
  table.rows = {row("0", "Net", "", {{"25.56", "M"}, {"4.09", "G"}}),
                row("1", "├─ conv1", "Conv2d", {{"9.41", "K"}, {"118.01", "M"}}, 0.25),
                row("10", "└─ fc", "Linear", {{"128", ""}, {"0", ""}}, 0.0001)};
  return table;
}

TEST(Layout, FiguresAndUnitsLineUp) {
  const std::vector<std::string> expected{
      "                       params      MACs  share",
      "0   Net               25.56 M    4.09 G",
      "1   ├─ conv1  Conv2d   9.41 K  118.01 M  25.0 % ██▌",
      "10  └─ fc     Linear    128         0    <0.1 % ▏",
  };
  EXPECT_EQ(plain(draw(small_table(), 0).lines), expected);
}

TEST(Layout, TheBarIsLeftOutFirst) {
  auto drawn = draw(small_table(), 50);
  EXPECT_EQ(plain(drawn.lines)[0], "                       params      MACs   of it");
  EXPECT_EQ(plain(drawn.lines)[2], "1   ├─ conv1  Conv2d   9.41 K  118.01 M  25.0 %");
  drawn = draw(small_table(), 45);
  EXPECT_EQ(plain(drawn.lines)[2], "1   ├─ conv1  Conv2d   9.41 K  118.01 M");
  EXPECT_TRUE(drawn.left_out.empty());
}

TEST(Layout, ColumnsAreLeftOutBeforeNamesBecomeIllegibleExceptThePrimaryOne) {
  Table table;
  for (const char* title : {"a", "b", "c", "d"})
    table.columns.push_back({title, title[0] == 'd' ? "two" : "one", title[0] == 'b'});
  table.rows = {row("0", "a_name_of_26_columns_in_all", "",
                    {{"111.11", "M"}, {"222.22", "M"}, {"333.33", "M"}, {"444.44", "M"}})};
  // Room for three columns: the plugin with the most columns gives one up, but not its primary one.
  auto drawn = draw(table, 53);
  EXPECT_EQ(drawn.left_out, (std::vector<size_t>{2}));
  drawn = draw(table, 34);
  EXPECT_EQ(drawn.left_out, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(plain(drawn.lines)[1], "0  a_name_of_26_columns…  222.22 M");
}

TEST(Layout, NoLineIsEverWiderThanTheTerminal) {
  auto table = small_table();
  table.rows.push_back(row("1.1.1.1.1.1", std::string(300, 'x'), std::string(200, 'T'),
                           {{"1", "K"}, {"2", "G"}}, 1));
  for (size_t width = 1; width < 200; ++width)
    EXPECT_LE(widest(draw(table, width).lines), width) << width;
}

TEST(Layout, ATableWithoutColumnsIsATree) {
  Table table;
  table.rows = {row("0", "Net", "", {}), row("1", "└─ fc", "Linear", {})};
  const std::vector<std::string> expected{"0  Net", "1  └─ fc  Linear"};
  EXPECT_EQ(plain(draw(table, 80).lines), expected);
}

TEST(Layout, BarsAreDrawnInEighthsAndNeverVanish) {
  EXPECT_EQ(bar(0, 10), "");
  EXPECT_EQ(bar(-1, 10), "");
  EXPECT_EQ(bar(1e-9, 10), "▏");
  EXPECT_EQ(bar(0.5, 10), "█████");
  EXPECT_EQ(bar(0.0625, 10), "▋");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(7, 4), "████");
}

TEST(Flow, WordsFlowWithAHangingIndent) {
  const Text text = Text("FLOPs: ").add("one MAC is two FLOPs", Style::kQuiet);
  const std::vector<std::string> expected{"FLOPs: one MAC", "  is two FLOPs"};
  EXPECT_EQ(plain(flow(text, 14, 2)), expected);
  EXPECT_EQ(plain(flow(text, 0, 2)), std::vector<std::string>{"FLOPs: one MAC is two FLOPs"});
}

TEST(Flow, AWordOfTwoStylesIsNotTornApart) {
  const Text text = Text("see fused").add(", ", Style::kQuiet).add("more");
  EXPECT_EQ(plain(flow(text, 10, 0)), (std::vector<std::string>{"see fused,", "more"}));
}

TEST(Flow, AWordLongerThanTheLineIsCut) {
  EXPECT_EQ(plain(flow(Text("abcdefgh ij"), 5, 2)), (std::vector<std::string>{"abcd…", "  ij"}));
}

TEST(Flow, ItemsStayWhole) {
  const std::vector<Text> items{Text("one two"), Text("three"), Text("four")};
  EXPECT_EQ(plain(flow_items(items, 16, 2)),
            (std::vector<std::string>{"one two · three", "  four"}));
  EXPECT_EQ(plain(flow_items(items, 0, 2)), std::vector<std::string>{"one two · three · four"});
}

TEST(Style, ColoursAreWrittenOnlyOnRequest) {
  const Text text = Text("a", Style::kStrong).add(" b").add("   ", Style::kQuiet);
  EXPECT_EQ(render(text, false), "a b\n");
  EXPECT_EQ(render(text, true), "\x1b[1ma\x1b[0m b\n");
}

TEST(Style, CutTextKeepsItsStyles) {
  const Text text = Text("abc", Style::kStrong).add("def", Style::kQuiet);
  EXPECT_EQ(render(text.cut(6), false), "abcdef\n");
  EXPECT_EQ(render(text.cut(5), true), "\x1b[1mabc\x1b[0m\x1b[2md…\x1b[0m\n");
  EXPECT_EQ(render(text.cut(3), false), "ab…\n");
  EXPECT_EQ(render(text.cut(0), false), "\n");
}

}  // namespace
