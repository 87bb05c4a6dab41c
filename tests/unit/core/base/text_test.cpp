#include "core/base/text.hpp"

#include <gtest/gtest.h>

namespace tmeter::core {
namespace {

TEST(Text, SplitDropsEmptyParts) {
  EXPECT_EQ(split("a,,b c,", ", "), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(split("", ",").empty());
}

TEST(Text, GlobStarCrossesSlashes) {
  EXPECT_TRUE(glob_match("*/models/*.json", "resnet/models/model.json"));
  EXPECT_TRUE(glob_match("*/code/*", "m/code/__torch__/x.py"));
  EXPECT_FALSE(glob_match("*/models/*.json", "resnet/data/model.pkl"));
  EXPECT_TRUE(glob_match("a?c*", "abc"));
  EXPECT_FALSE(glob_match("", "x"));
}

TEST(Text, PrintableTextHasNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\n");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \x9b\xff"), "gr\xc3\xbc\xc3\x9f \\x9b\\xff");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "b\xe2\x80\xae"
                      "c"),
            "a\\x9b"
            "b\\u202e"
            "c");                                                             // C1, right-to-left
  EXPECT_EQ(printable("\xed\xa0\x80\xc0\xaf"), "\\xed\\xa0\\x80\\xc0\\xaf");  // surrogate, overlong
}

TEST(Text, TextOnATerminalKeepsColoursAndNoOtherSequences) {
  EXPECT_EQ(terminal_safe("\x1b[1;31mred\x1b[0m\n\ttab"), "\x1b[1;31mred\x1b[0m\n\ttab");
  EXPECT_EQ(terminal_safe("\x1b]0;title\x07\x1b[2J\r"), "\\x1b]0;title\\x07\\x1b[2J\\r");
  EXPECT_EQ(terminal_safe("\x1b[31"), "\\x1b[31");
  EXPECT_EQ(terminal_safe("\xf0\x9f\x98\x80 \xe4\xb8\xad"), "\xf0\x9f\x98\x80 \xe4\xb8\xad");
}

TEST(Text, IncompleteHexGivesNoBytes) {
  EXPECT_EQ(bytes_of_hex("504b03"), "PK\x03");
  EXPECT_EQ(bytes_of_hex(""), "");
  for (const char* wrong : {"5", "504", "zz", "1z", "5A", " 5", "0x"})
    EXPECT_FALSE(bytes_of_hex(wrong)) << wrong;
}

}  // namespace
}  // namespace tmeter::core
