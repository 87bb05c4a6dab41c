#include "core/process/activity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

/// In a process of its own, as a thread takes its slot only once.
void nest() {
  auto& slot = activity_slot();
  slot.at.set("before");
  {
    const PluginScope outer("com.acme.outer", "on metric 'a'", OpenedFor::kFound);
    EXPECT_TRUE(slot.at.empty());
    const NodeScope node(3, "aten::relu", "layer1");
    slot.at.set("somewhere");
    {
      const PluginScope inner("com.acme.inner", "on metric 'b'");
      const NodeScope deeper(4, "aten::add", "layer2");
      EXPECT_EQ(slot.plugin.text(), "com.acme.inner");
      EXPECT_EQ(slot.doing.text(), "on metric 'b'");
      EXPECT_EQ(slot.opening, OpenedFor::kNo);
      EXPECT_EQ(slot.node, 4);
      EXPECT_EQ(slot.op.text(), "aten::add");
      EXPECT_EQ(slot.module.text(), "layer2");
      EXPECT_TRUE(slot.at.empty());
      slot.at.set("deep inside");
    }
    EXPECT_EQ(slot.plugin.text(), "com.acme.outer");
    EXPECT_EQ(slot.doing.text(), "on metric 'a'");
    EXPECT_EQ(slot.opening, OpenedFor::kFound);
    EXPECT_EQ(slot.node, 3);
    EXPECT_TRUE(slot.at.empty());
  }
  EXPECT_TRUE(slot.plugin.empty());
  EXPECT_TRUE(slot.doing.empty());
  EXPECT_EQ(slot.opening, OpenedFor::kNo);
  EXPECT_EQ(slot.node, -1);
}

TEST(Activity, PluginsAndNodesAreNested) {
  testing::expect_in_child([] { nest(); });
}

/// Slots are assigned once per process, the first to the main thread.
int slots_of_threads() {
  share_activity();
  const auto index = [] { return &activity_slot() - activity().slots.data(); };
  if (index() != 0) return 1;
  std::vector<std::ptrdiff_t> taken;
  for (size_t i = 0; i < Activity::kSlots + 4; ++i) {
    std::thread([&] { taken.push_back(index() == index() ? index() : -1); }).join();
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    const auto expected = std::min(i + 1, Activity::kSlots - 1);
    if (taken[i] != static_cast<std::ptrdiff_t>(expected)) return 2;
  }
  return index() == 0 ? 0 : 3;
}

TEST(Activity, EachThreadHasASlotAndTheLastIsShared) {
  EXPECT_EQ(testing::in_child(slots_of_threads).status(), 0);
}

TEST(Activity, TheSharedPageIsVisibleToTheParentAndNewForTheNextChild) {
  const auto seen = testing::in_child([] {
    share_activity();
    auto* page = &activity();
    if (const auto child = fork(); child == 0) {
      activity().slots[5].plugin.set("com.acme.p");
      activity().crashed_slot = 5;
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
    if (activity().slots[5].plugin.text() != "com.acme.p") return 1;
    share_activity();
    if (&activity() != page) return 2;
    return activity().slots[5].plugin.empty() && activity().crashed_slot == -1 ? 0 : 3;
  });
  EXPECT_EQ(seen.status(), 0);
}

TEST(Activity, WithoutASupervisorTheActivityIsOneObject) {
  EXPECT_EQ(&activity(), &activity());
  activity().engine.set("LibTorch");
  EXPECT_EQ(activity().engine.text(), "LibTorch");
  activity().engine.clear();
}

}  // namespace
}  // namespace tmeter::core
