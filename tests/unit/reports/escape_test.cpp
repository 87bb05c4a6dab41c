// Names from model files in the syntax of each format.
#include <gtest/gtest.h>

#include "plugins/reports/ci/writers.hpp"
#include "plugins/reports/dot/label.hpp"
#include "plugins/reports/markdown/markup.hpp"
#include "plugins/reports/xml/stream.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

TEST(Markdown, NamesAreText) {
  using markdown_report::escaped;
  EXPECT_EQ(escaped("a|b"), "a\\|b");
  EXPECT_EQ(escaped("</details>"), "&lt;/details&gt;");
  EXPECT_EQ(escaped("@root #1 :tada:"), "&#64;root \\#1 &#58;tada&#58;");
  EXPECT_EQ(escaped("[x](y)*b*`c`"), "\\[x\\](y)\\*b\\*\\`c\\`");
  EXPECT_EQ(escaped("a\nb"), "a b");
  EXPECT_EQ(escaped("http://x www.x"), "http&#58;//x www&#46;x");
}

TEST(Markdown, OrdinaryNamesAreCode) {
  EXPECT_EQ(markdown_report::code("layer1.0.conv1"), "`layer1.0.conv1`");
  EXPECT_EQ(markdown_report::code("a|b`"), "a\\|b\\`");
  EXPECT_EQ(markdown_report::code(""), "");
}

TEST(Dot, NoTextEndsAString) {
  EXPECT_EQ(dot_report::quoted(std::string_view("a\"b")), "\"a\\\"b\"");
  EXPECT_EQ(dot_report::quoted(std::string_view("\\N")), "\"\\\\N\"");
  EXPECT_EQ(dot_report::quoted(std::string_view("<b>x</b>")), "\"<b>x</b>\"");
  EXPECT_EQ(dot_report::quoted(std::vector<std::string>{"a", "b\n"}), "\"a\\nb \"");
}

std::string xml_of(std::string_view text) {
  fake::FakeReport host;
  tmeter_output out;
  tmeter::Output output(&out);
  xml_report::Stream stream(output);
  stream.element("x").attribute("a", text).text(text);
  stream.finish();
  return out.text.substr(out.text.find('\n') + 1);
}

TEST(Xml, CharactersThatXmlForbidsAreReplaced) {
  EXPECT_EQ(xml_of("a<&>\""), "<x a=\"a&lt;&amp;&gt;&quot;\">a&lt;&amp;&gt;&quot;</x>\n");
  EXPECT_EQ(xml_of("\x01\xff\uFFFE"), "<x a=\"\uFFFD\uFFFD\uFFFD\">\uFFFD\uFFFD\uFFFD</x>\n");
  EXPECT_EQ(xml_of("\n\t"), "<x a=\"&#10;&#9;\">&#10;&#9;</x>\n");
}

TEST(GitHub, NoTextEndsALineOrAProperty) {
  fake::FakeReport r;
  r.module(nullptr, "", "Net");
  r.properties = {{"model.file", "a,b:c%"}};
  r.warnings = {"x\n::error::y%"};
  tmeter_output out;
  tmeter::Output output(&out);
  ci_report::write_github(r.report(), output);
  EXPECT_EQ(out.text, "::warning title=tmeter a%2Cb%3Ac%25::x ::error::y%25\n");
}

}  // namespace
