#include <gtest/gtest.h>

#include "plugins/reports/text/look/look.hpp"

namespace {

using text_report::cut_end;
using text_report::cut_start;
using text_report::display_width;
using text_report::printable;

TEST(Utf8, NamesCannotSendControlSequencesToTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable("a\x07\x7f"), "a\uFFFD\uFFFD");
  EXPECT_EQ(printable("a\u009bb"), "a\uFFFDb");  // C1: a control sequence introducer
  EXPECT_EQ(printable("a\u202eb"), "a\uFFFDb");  // right-to-left override
  EXPECT_EQ(printable("a\tb\nc"), "a b c");
}

TEST(Utf8, InvalidBytesAreReplacedOneByOne) {
  EXPECT_EQ(printable("\xff"), "\uFFFD");
  EXPECT_EQ(printable("a\xc3"), "a\uFFFD");                              // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
}

TEST(Utf8, ValidTextIsUnchanged) {
  for (const char* text : {"", "layer1.0", "Größe", "卷积层", "😀", "×3"})
    EXPECT_EQ(printable(text), text);
}

TEST(Utf8, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("├─ é"), 4U);
  EXPECT_EQ(display_width("卷积"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // combining acute
  EXPECT_EQ(display_width("😀"), 2U);
}

TEST(Utf8, CutTextEndsInAnEllipsisAndFits) {
  EXPECT_EQ(cut_end("conv1", 5), "conv1");
  EXPECT_EQ(cut_end("conv1", 4), "con…");
  EXPECT_EQ(cut_end("conv1", 1), "…");
  EXPECT_EQ(cut_end("conv1", 0), "");
  EXPECT_EQ(cut_end("卷积层", 4), "卷…");  // half a wide character is not printed
  EXPECT_EQ(cut_start("model.layers.0", 9), "…layers.0");
  EXPECT_EQ(cut_start("abc", 3), "abc");
  EXPECT_EQ(cut_start("abc", 0), "");
}

}  // namespace
