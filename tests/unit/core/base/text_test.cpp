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

TEST(Text, NearestFindsSlipsButNotStrangers) {
  const std::vector<std::string> known{"flops", "memory", "energy"};
  EXPECT_EQ(nearest("flop", known), "flops");
  EXPECT_EQ(nearest("enregy", known), "energy");
  EXPECT_EQ(nearest("quantization", known), "");
  EXPECT_EQ(did_you_mean("flop", known), " (did you mean 'flops'?)");
}

TEST(Text, PrintableTextHasNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \x9b\xff"), "gr\xc3\xbc\xc3\x9f ??");
}

}  // namespace
}  // namespace tmeter::core
