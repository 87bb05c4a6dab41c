#include "plugins/reports/text/look/markup.hpp"

#include <gtest/gtest.h>

namespace {

using namespace text_report;

// SGR codes are those of ECMA-48, 8.3.117, and of xterm's 256 colours.
std::string shown(const Style& style) {
  const auto line = render(Text("x", style), true);
  return line.substr(0, line.size() - 1);
}
std::string styled(std::string_view text) { return shown(parse_style(text)); }

std::string mistake(std::string_view style) {
  try {
    parse_style(style);
  } catch (const Mistake& m) {
    return std::to_string(m.at) + " " + m.what;
  }
  return "";
}

std::string put(std::string_view text, const std::string& value = "V") {
  const auto t = parse_template(text);
  const auto line =
      expand(t, [&](const auto& part, Text& out) { out.add(part.text + "=" + value, part.style); });
  auto out = render(line, true);
  out.pop_back();
  return out;
}

std::string wrong(std::string_view text) {
  try {
    parse_template(text);
  } catch (const Mistake& m) {
    return std::to_string(m.at) + " " + m.what;
  }
  return "";
}

TEST(Styles, AreWords) {
  EXPECT_EQ(styled(""), "x");
  EXPECT_EQ(styled("none"), "x");
  EXPECT_EQ(styled("bold"), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(styled("b i u"), "\x1b[1;3;4mx\x1b[0m");
  EXPECT_EQ(styled("bold not bold"),
            "\x1b[1mx\x1b[0m");  // "not" switches off an inherited attribute
  EXPECT_EQ(styled("green"), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(styled("BRIGHT_RED on Blue"), "\x1b[91;44mx\x1b[0m");
  EXPECT_EQ(styled("gray35"), "\x1b[38;5;240mx\x1b[0m");
  EXPECT_EQ(styled("light_coral"), "\x1b[38;5;210mx\x1b[0m");
  EXPECT_EQ(styled("color(17)"), "\x1b[38;5;17mx\x1b[0m");
  EXPECT_EQ(styled("dim on #102030"), "\x1b[2;48;2;16;32;48mx\x1b[0m");
  EXPECT_EQ(styled("rgb(1, 2,3)"), "\x1b[38;2;1;2;3mx\x1b[0m");
  EXPECT_EQ(styled("default on default"), "\x1b[39;49mx\x1b[0m");
  EXPECT_EQ(styled("quiet"), "\x1b[2mx\x1b[0m");
  EXPECT_EQ(styled("type"), "\x1b[36mx\x1b[0m");
}

TEST(Styles, MistakesNameTheirPlaceAndTheNearestWord) {
  EXPECT_EQ(mistake("b gren"), "2 there is no style or colour 'gren' (did you mean 'green'?)");
  EXPECT_EQ(mistake("green on"), "8 a colour is missing after 'on'");
  EXPECT_EQ(mistake("not"), "3 an attribute is missing after 'not'");
  for (const char* text :
       {"on bold", "not red", "#12", "#12345z", "rgb(1,2)", "rgb(1,2,300)", "rgb(1,2,3",
        "color(256)", "color()", "on on red", "not not bold", "rgb(,,)"})
    EXPECT_NE(mistake(text), "") << text;
}

TEST(Styles, AnInnerStyleKeepsTheBackgroundOfTheOuterOne) {
  const auto& theme = default_theme();
  EXPECT_EQ(shown(over(parse_style("green on red"), parse_style("b"), theme)),
            "\x1b[1;32;41mx\x1b[0m");
  EXPECT_EQ(shown(over(parse_style("b green"), parse_style("not bold blue"), theme)),
            "\x1b[34mx\x1b[0m");
  EXPECT_EQ(shown(over(parse_style("green"), Style::kType, theme)), "\x1b[36mx\x1b[0m");
  EXPECT_EQ(shown(over(parse_style("green"), Style::kQuiet, theme)), "\x1b[2;32mx\x1b[0m");
}

TEST(Templates, TagsNestAndEnd) {
  EXPECT_EQ(put("a[b]b[green]c[/]d[/]e"), "a\x1b[1mb\x1b[0m\x1b[1;32mc\x1b[0m\x1b[1md\x1b[0me");
  EXPECT_EQ(put("[b][green]x[/b]y"), "\x1b[1;32mx\x1b[0my");
  EXPECT_EQ(put("[green]to the end"), "\x1b[32mto the end\x1b[0m");
  EXPECT_EQ(put("[b gray35](<node_id>)[/]"), "\x1b[1;38;5;240m(node_id=V)\x1b[0m");
}

// torchmeter's own title as rich 15.0.0 draws it: Repeat [3] Times, all italic, 3 bold.
TEST(Templates, BracketsWithoutAStyleAreText) {
  EXPECT_EQ(put("[i]Repeat [[b]<repeat_time>[/b]] Times[/]"),
            "\x1b[3mRepeat [\x1b[0m\x1b[1;3mrepeat_time=V\x1b[0m\x1b[3m] Times\x1b[0m");
  EXPECT_EQ(put("a[2] < b > [ ] []"), "a[2] < b > [ ] []");
  EXPECT_EQ(put("\\[b] \\<name\\> \\\\ \\n"), "[b] <name> \\ \\n");
}

TEST(Templates, TheValueOfAPlaceholderIsText) {
  EXPECT_EQ(put("<name>", "[red]<macs>[/]\x1b[31m\u202e"), "name=[red]<macs>[/]\uFFFD[31m\uFFFD");
}

TEST(Templates, MistakesNameTheirPlace) {
  EXPECT_EQ(wrong("x [b gren]y"), "5 there is no style or colour 'gren' (did you mean 'green'?)");
  EXPECT_EQ(wrong("x[b green"), "1 this tag has no ']'; a '[' as a plain character is written \\[");
  EXPECT_EQ(wrong("[b [i]x"), "0 this tag has no ']'; a '[' as a plain character is written \\[");
  EXPECT_EQ(wrong("ab<name"),
            "2 this placeholder has no '>'; a '<' as a plain character is written \\<");
  EXPECT_EQ(wrong("[/]"), "0 [/] has no opening tag");
  EXPECT_EQ(wrong("[b]x[/i]"), "4 [/i] has no opening tag");
  EXPECT_EQ(wrong("<na me>"), "0 'na me' is not the name of a placeholder");
}

TEST(Templates, HostileTemplatesAreReadInNoTime) {
  EXPECT_EQ(wrong(std::string(1 << 20, 'x')),
            "0 a template has at most 10000 bytes, this one has 1048576");
  std::string deep;
  for (int i = 0; i < 3'000; ++i) deep += "[b]";
  EXPECT_EQ(put(deep + "x"), "\x1b[1mx\x1b[0m");
  std::string brackets(10'000, '[');
  EXPECT_EQ(put(brackets), brackets);
  std::string open;
  for (int i = 0; i < 5'000; ++i) open += "<a";
  EXPECT_NE(wrong(open), "");
  EXPECT_EQ(wrong(std::string(3, '\xff') + "\x1b[2J"), "");
}

TEST(Highlighting, FindsNumbersQuotedTextsAndWords) {
  const auto line =
      render(highlighted(Text("conv1 3.5 12. 'a' None Nonesuch"), default_theme()), true);
  EXPECT_EQ(line,
            "conv1 \x1b[1;36m3.5\x1b[0m \x1b[1;36m12\x1b[0m. \x1b[32m'a'\x1b[0m \x1b[3mNone\x1b[0m "
            "Nonesuch\n");
}

TEST(Ascii, EveryCharacterKeepsItsWidth) {
  const Rendering how{false, true};
  EXPECT_EQ(render(Text("│  └─ 卷 ×3 ≥1 … ▏█ é ╭━╮"), how), "|  +- ?? x3 >1 . ## ? +-+\n");
}

}  // namespace
