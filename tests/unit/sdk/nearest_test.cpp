#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tmeter/cpp/nearest.hpp>
#include <vector>

namespace {

using Names = std::vector<std::string_view>;
using tmeter::did_you_mean;
using tmeter::nearest;

TEST(Nearest, FindsSlipsButNotStrangers) {
  const Names names{"flops", "memory", "energy"};
  EXPECT_EQ(nearest("flop", names), "flops");
  EXPECT_EQ(nearest("enregy", names), "energy");
  EXPECT_EQ(nearest("quantization", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("nvidia-h100", Names{"nvidia-a100", "nvidia-h100-sxm"}), "nvidia-h100-sxm");
  EXPECT_EQ(nearest("en", {"energy"}), "");
  EXPECT_EQ(did_you_mean("flop", names), " (did you mean 'flops'?)");
  EXPECT_EQ(did_you_mean("quantization", names), "");
}

TEST(Nearest, TheWordItselfComesBeforeALongerName) {
  EXPECT_EQ(nearest("json", Names{"json-lines", "json"}), "json");
}

TEST(Nearest, AllowsAThirdOfALongWordAndOneLetterOfAShortOne) {
  EXPECT_EQ(nearest("abcdefghi", Names{"xyzdefghi"}), "xyzdefghi");
  EXPECT_EQ(nearest("abcdefghi", Names{"wxyzefghi"}), "");
  EXPECT_EQ(nearest("br", Names{"bl", "cyan"}), "bl");
  EXPECT_EQ(nearest("br", Names{"up"}), "");
}

TEST(Nearest, PrefersTheFirstOfEquallyNearNames) {
  EXPECT_EQ(nearest("macz", Names{"maca", "macb"}), "maca");
  EXPECT_EQ(nearest("params", std::vector<std::string>{"param", "params_trainable"}),
            "params_trainable");
}

TEST(Nearest, TheOnlyNameThatContainsTheWordIsTaken) {
  EXPECT_EQ(nearest("a100", Names{"nvidia-a100", "nvidia-h100-sxm"}), "nvidia-a100");
  EXPECT_EQ(nearest("RTX4090", Names{"nvidia-a100", "nvidia-rtx-4090"}), "nvidia-rtx-4090");
  EXPECT_EQ(nearest("sxm", Names{"nvidia-h100-sxm", "nvidia-h200-sxm"}), "");
  // Of several names the one that ends with the word.
  EXPECT_EQ(nearest("inference", Names{"layers-inference-time", "cpu-inference"}), "cpu-inference");
}

TEST(Nearest, AVeryLongWordIsNotATypingError) {
  EXPECT_EQ(nearest(std::string(100'000, 'x'), Names{std::string_view("y")}), "");
  EXPECT_EQ(nearest(std::string(257, 'x'), std::vector{std::string(257, 'x')}), "");
}

}  // namespace
