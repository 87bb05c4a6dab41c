// Boxes as the rich library draws them: golden/rich_boxes.txt has its output
// (tests/fixtures/record_rich.py).
#include <gtest/gtest.h>

#include <fstream>

#include "plugins/reports/text/look/look.hpp"
#include "plugins/reports/text/tree_lines.hpp"

namespace {

using namespace text_report;

/// "ASCII lines" → rich's drawing.
std::map<std::string, std::string> recorded() {
  std::ifstream file(TMETER_TEXT_GOLDEN "/rich_boxes.txt");
  std::map<std::string, std::string> out;
  std::string title;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## "))
      title = line.substr(3);
    else
      out[title] += line + "\n";
  }
  return out;
}

/// Without the empty lines around it.
std::string drawn(const std::vector<Text>& lines) {
  std::string text;
  for (const auto& line : lines) text += render(line, false);
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

Table::Row two(const std::string& macs, const std::string& params) {
  Table::Row row;
  row.values = {{macs, ""}, {params, ""}};
  return row;
}

std::string boxed(std::vector<GivenText> given) {
  Table table;
  table.columns = {{"MACs", "f", true, "macs"}, {"params", "p", false, "params"}};
  table.rows = {two("1", "25"), two("1234567", "3")};
  table.total = two("9", "total");
  given.push_back({"column.default.justify", "right"});
  return drawn(draw(table, 0, Look::make(given)).lines);
}

TEST(Rich, TablesHaveTheSameBoxes) {
  const auto rich = recorded();
  ASSERT_EQ(rich.size(), 19U * 6 + 4);
  for (auto name : box_names()) {
    if (name == "none") continue;
    std::string theirs(name);
    for (auto& c : theirs) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    const GivenText box{"table.box", theirs};
    EXPECT_EQ(boxed({box}), rich.at(theirs + " plain"));
    EXPECT_EQ(boxed({box, {"table.show-lines", "true"}, {"table.show-footer", "true"}}),
              rich.at(theirs + " lines"));
    EXPECT_EQ(boxed({box, {"table.show-edge", "false"}, {"table.pad-edge", "false"}}),
              rich.at(theirs + " open"));
  }
}

TEST(Rich, SpacesInTablesAreTheSame) {
  const auto rich = recorded();
  const GivenText box{"table.box", "rounded"};
  EXPECT_EQ(boxed({box, {"table.leading", "1"}}), rich.at("ROUNDED leading"));
  EXPECT_EQ(boxed({box, {"table.show-header", "false"}}), rich.at("ROUNDED headless"));
  EXPECT_EQ(boxed({box, {"table.padding", "1, 2"}}), rich.at("ROUNDED padded"));
  EXPECT_EQ(boxed({box, {"table.padding", "0, 2"}, {"table.collapse-padding", "true"}}),
            rich.at("ROUNDED collapsed"));
}

TEST(Rich, RepeatsHaveTheFrameOfAPanel) {
  const auto rich = recorded();
  for (auto name : box_names()) {
    if (name == "none") continue;
    std::string theirs(name);
    for (auto& c : theirs) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    for (const std::string align : {"left", "center", "right"}) {
      const auto look = Look::make({{"repeat.box", theirs},
                                    {"repeat.title-align", align},
                                    {"repeat.subtitle-align", align}});
      EXPECT_EQ(drawn(framed({"├─ conv1", "└─ a longer name of a module"}, look.repeat, look.theme,
                             "Repeat 3", "1 … 3")),
                rich.at(theirs + " panel " + align));
    }
  }
}

}  // namespace
