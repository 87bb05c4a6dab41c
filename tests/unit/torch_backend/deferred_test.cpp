// Registrations that wait for their name to be asked for.
#include "start/deferred.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace tmeter::torch_backend::start {
namespace {

struct Told final : Registration {
  Told(std::function<void()> what, std::optional<std::string> overload, bool script = false)
      : what(std::move(what)), of(std::move(overload)), script(script) {}
  void enter() override { what(); }
  std::optional<std::string_view> overload() const override { return of; }
  bool of_script() const override { return script; }
  std::function<void()> what;
  std::optional<std::string> of;
  bool script;
};

struct DeferredTest : testing::Test {
  Deferred all;
  std::string told;

  void add(const char* name, const std::string& what, std::optional<std::string> overload = "") {
    all.add(name, std::make_unique<Told>([this, what] { told += what; }, std::move(overload)));
  }
};

TEST(Names, OverloadsShareWhatComesBeforeTheDot) {
  EXPECT_EQ(shared_name("aten::add.Tensor(Tensor self, float x=1.0) -> Tensor"), "aten::add");
  EXPECT_EQ(shared_name("relu(Tensor self) -> Tensor"), "relu");
  EXPECT_EQ(shared_name("relu"), "relu");
  EXPECT_EQ(overload_of("aten::add.Tensor(Tensor self, float x=1.0) -> Tensor"), "Tensor");
  EXPECT_EQ(overload_of("add.out"), "out");
  EXPECT_EQ(overload_of("relu(float x=1.0) -> Tensor"), "");
}

TEST_F(DeferredTest, NothingIsEnteredBeforeItIsAskedFor) {
  add("a", "1");
  add("b", "2");
  EXPECT_EQ(told, "");
  all.enter("a");
  EXPECT_EQ(told, "1");
  EXPECT_EQ(all.names(), 1u);
  EXPECT_FALSE(all.waits("a"));
  all.enter("a");
  all.enter("no such name");
  EXPECT_EQ(told, "1");
}

TEST_F(DeferredTest, OverloadsComeAsTheyWereMentionedAndWhatIsOfNoneComesLast) {
  add("a", "x1 ", "x");
  add("a", "script ", std::nullopt);
  add("a", "y1 ", "y");
  add("a", "x2 ", "x");
  add("a", "afterwards ", std::nullopt);
  add("a", "y2 ", "y");
  all.enter("a");
  EXPECT_EQ(told, "x1 x2 y1 y2 script afterwards ");
}

TEST_F(DeferredTest, WhatIsEnteredMayAskForItsOwnNameAndForOthers) {
  all.add("a", std::make_unique<Told>([this] { all.enter("a"), all.enter("b"), told += "a"; }, ""));
  add("b", "b");
  all.enter("a");
  EXPECT_EQ(told, "ba");
  EXPECT_EQ(all.names(), 0u);
}

TEST_F(DeferredTest, WhatIsAddedWhileEveryThingIsEnteredIsEnteredToo) {
  all.add("a", std::make_unique<Told>([this] { add("c", "c"); }, ""));
  add("b", "b");
  all.enter_all();
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(all.names(), 0u);
}

TEST_F(DeferredTest, ScriptNamesAreThoseThatTheDispatcherDoesNotHaveAlone) {
  all.add("prim::x", std::make_unique<Told>([] {}, std::nullopt, true));
  add("aten::y", "");
  EXPECT_EQ(all.script_names(), std::vector<std::string>{"prim::x"});
}

TEST_F(DeferredTest, WhoeverAsksMeanwhileWaitsForTheWhole) {
  std::atomic<int> entered = 0;
  std::atomic<bool> begun = false;
  for (int i = 0; i < 1000; ++i) {
    all.add("a", std::make_unique<Told>([&] { begun = true, ++entered; }, ""));
  }
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    all.enter("a");
    EXPECT_EQ(entered, 1000);
  });
  all.enter("a");
  other.join();
}

TEST_F(DeferredTest, AFailureIsOfWhoAsked) {
  all.add("a", std::make_unique<Told>([] { throw std::runtime_error("no"); }, ""));
  add("b", "b");
  EXPECT_THROW(all.enter("a"), std::runtime_error);
  all.enter_all();
  EXPECT_EQ(told, "b");
  EXPECT_EQ(all.names(), 0u);
}

}  // namespace
}  // namespace tmeter::torch_backend::start
