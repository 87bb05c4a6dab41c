// Work done ahead by other threads: whatever their number, the results come in order, and what goes
// wrong is told at its place.
#include "ahead.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "document.hpp"
#include "plain_nodes.hpp"

namespace pt2 {
namespace {

TEST(Pt2Ahead, ResultsComeInOrderWhoeverMadeThem) {
  for (const unsigned helpers : {0, 1, 2, 7}) {
    for (const size_t slots : {1, 2, 8}) {
      constexpr size_t kItems = 500;
      std::vector<size_t> made(slots);
      std::vector<int> times(kItems);
      Ahead ahead(kItems, slots, helpers, [&](size_t item, size_t slot) {
        ++times[item];
        made[slot] = item * item;
      });
      for (size_t i = 0; i < kItems; ++i) {
        const size_t slot = ahead.wait(i);
        ASSERT_EQ(made[slot], i * i);
        if (i % 7 == 0) std::this_thread::yield();
        ASSERT_EQ(made[slot], i * i);  // nobody works in a slot that is used
      }
      EXPECT_EQ(times, std::vector<int>(kItems, 1));
    }
  }
}

TEST(Pt2Ahead, WhatGoesWrongIsToldWhenItIsItsTurn) {
  for (const unsigned helpers : {0, 1, 3}) {
    Ahead ahead(20, 4, helpers, [](size_t item, size_t) {
      if (item == 5 || item == 6) throw std::runtime_error(std::to_string(item));
    });
    for (size_t i = 0; i < 5; ++i) EXPECT_NO_THROW(ahead.wait(i));
    try {
      ahead.wait(5);
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "5");
    }
  }
}

TEST(Pt2Ahead, CanBeLeftAtAnyMoment) {
  for (size_t used = 0; used < 10; ++used) {
    std::atomic<size_t> made{0};
    {
      Ahead ahead(1000, 8, 2, [&](size_t, size_t) { ++made; });
      for (size_t i = 0; i < used; ++i) ahead.wait(i);
    }
    EXPECT_GE(made, used);
    EXPECT_LE(made, used + 8);  // never more than what fits the slots
  }
}

TEST(Pt2Ahead, NothingIsNoWork) {
  Ahead ahead(0, 4, 2, [](size_t, size_t) { FAIL(); });
}

constexpr std::string_view kOneNode =
    R"({"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": )"
    R"({"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "other", "arg": {"as_int": -3}}], )"
    R"("outputs": [{"as_tensor": {"name": "add"}}], "metadata": {"nn_module_stack": "L__self__,,a.Net"}})";

/// All that is told of a list that is read in small pieces, and what is wrong in the end.
std::string all_told(const std::string& text, unsigned helpers) {
  std::string out;
  try {
    Cuts cuts;
    cuts.paths = {"list"};
    cuts.text = cuts.list = 1;
    cuts.measure.piece = 600;  // two nodes, or three
    const Document document(text, cuts);
    const auto series = document.series("list", member(document.root(), "list"));
    series.each<PlainNodes>(
        [](PlainNodes& plain, std::string_view piece) { return plain.read(piece); },
        [&](const PlainNodes& plain) {
          for (const auto& node : plain.nodes) out += "plain " + std::string(node.text) + "\n";
        },
        [&](json::element piece) { out += "parsed " + simdjson::minify(piece) + "\n"; },
        Helping{.least = 0, .helpers = helpers});
  } catch (const BadFile& e) {
    out += e.what();
  }
  return out;
}

TEST(Pt2Ahead, DamageIsToldAlikeByAnyNumberOfThreads) {
  std::string list;
  for (int i = 0; i < 40; ++i) list += (i ? ", " : "") + std::string(kOneNode);
  std::mt19937 random(17);
  constexpr std::string_view kBytes = "\"\\{}[]:, x0-";
  size_t wrong = 0, parsed = 0;
  for (int round = 0; round < 1000; ++round) {
    auto damaged = list;
    for (int n = static_cast<int>(random() % 3); n > 0; --n) {
      const size_t at = random() % damaged.size();
      if (const size_t name = damaged.find("a.Net", at); random() % 2 && name < damaged.size())
        damaged.replace(name, 1, "\xc3\xa4");  // no damage, but not plain
      if (random() % 2) {
        damaged[at] = kBytes[random() % kBytes.size()];
      } else {
        damaged.erase(at, 1 + random() % 700);
        if (damaged.empty()) damaged = kOneNode;
      }
    }
    auto text = "{\"list\": [" + damaged + "]}";
    text.reserve(text.size() + 64);
    const auto expected = all_told(text, 0);
    ASSERT_EQ(all_told(text, 1), expected) << text;
    ASSERT_EQ(all_told(text, 3), expected) << text;
    wrong += expected.find("not valid JSON") != std::string::npos;
    parsed += expected.find("parsed ") != std::string::npos;
  }
  EXPECT_GT(wrong, 30u);
  EXPECT_GT(parsed, 30u);
}

}  // namespace
}  // namespace pt2
