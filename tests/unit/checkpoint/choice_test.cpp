// The choice of the part of a checkpoint that is the model.
#include "choice.hpp"

#include <gtest/gtest.h>

#include <tmeter/cpp/base.hpp>

#include "bad_file.hpp"
#include "pickle/unpickler.hpp"
#include "pickle_text.hpp"

namespace checkpoint {
namespace {

using testing::global;
using testing::proto;
using testing::text;

const std::string kTensor = global("torch._utils", "_rebuild_tensor_v2") + ")R";

std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "u";
}
std::string weights(int count) {
  std::vector<std::pair<std::string, std::string>> items;
  for (int i = 0; i < count; ++i) items.emplace_back("w" + std::to_string(i), kTensor);
  return dict(items);
}
std::string module() {
  return global("my", "Net") + ")\x81" + dict({{"_parameters", "}"}, {"_modules", "}"}}) + "b";
}

struct Chosen {
  Chosen(const std::string& content, std::string_view key) : data(proto() + content + ".") {
    choice = choose(*Unpickler(data, "data.pkl", 0, arena).run().root, key);
  }
  std::string data;
  Arena arena;
  Choice choice;
};

std::string path(const std::string& content, std::string_view key = {}) {
  return Chosen(content, key).choice.chosen.path;
}

TEST(Choice, StateDictIsItsOwnModel) { EXPECT_EQ(path(weights(2)), ""); }

TEST(Choice, WellKnownKeysAreTheModel) {
  for (const char* key : {"model_state_dict", "state_dict", "model", "module", "net", "ema"})
    EXPECT_EQ(path(dict({{"epoch", "K\x01"}, {key, weights(2)}, {"other", weights(9)}})), key);
}

TEST(Choice, OptimizersAreNeverTheModel) {
  EXPECT_EQ(path(dict({{"optimizer_state_dict", weights(9)}, {"mine", weights(1)}})), "mine");
  EXPECT_EQ(path(dict({{"optim", weights(9)}, {"model", dict({{"ema", weights(1)}})}})),
            "model.ema");
}

TEST(Choice, WithoutAKnownKeyTheMostTensorsDecide) {
  EXPECT_EQ(path(dict({{"a", weights(1)}, {"b", weights(3)}, {"c", weights(2)}})), "b");
}

TEST(Choice, ModelIsPreferredToItsAverage) {
  EXPECT_EQ(path(dict({{"ema", weights(2)}, {"model", weights(2)}})), "model");
}

TEST(Choice, WholeModuleIsTheModelUnderAnyKey) {
  EXPECT_EQ(path(module()), "");
  EXPECT_EQ(path(dict({{"epoch", "K\x01"}, {"model", module()}})), "model");
  EXPECT_EQ(path(dict({{"student", module()}, {"stats", weights(5)}})), "student");
}

TEST(Choice, OthersAreNamed) {
  const Chosen c(dict({{"model", weights(2)}, {"extra", dict({{"ema", weights(2)}})}}), {});
  EXPECT_EQ(c.choice.others, std::vector<std::string>{"extra.ema"});
}

TEST(Choice, KeyMayHaveDotsOrBeAnIndex) {
  const auto content =
      dict({{"model.v2", dict({{"ema", weights(1)}})}, {"list", "](" + weights(2) + "e"}});
  EXPECT_EQ(path(content, "model.v2.ema"), "model.v2.ema");
  EXPECT_EQ(path(content, "list.0"), "list.0");
  EXPECT_EQ(path(content, "."), "");
}

TEST(Choice, WrongKeyListsTheExistingOnes) {
  try {
    path(dict({{"model", weights(1)}, {"epoch", "K\x01"}}), "modle");
    FAIL();
  } catch (const tmeter::Error& e) {
    EXPECT_EQ(e.status(), TMETER_BAD_USAGE);
    EXPECT_STREQ(e.what(),
                 "--set checkpoint.key=modle: the checkpoint has no such key; it has model, epoch");
  }
}

TEST(Choice, CheckpointWithoutTensorsIsNotAModel) {
  EXPECT_THROW(path(dict({{"epoch", "K\x01"}})), loading::BadFile);
  EXPECT_THROW(path("N"), loading::BadFile);
}

}  // namespace
}  // namespace checkpoint
