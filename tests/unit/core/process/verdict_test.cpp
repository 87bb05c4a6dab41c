#include "core/process/verdict.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace tmeter::core {
namespace {

WorkerEnd by_signal(int number) { return {EndedBy::kItself, number, {}, "dir/model.pt"}; }

TEST(Verdict, APluginThatCrashesOnANodeIsTheOffender) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("com.acme.layers");
  a.slots[0].doing.set("on metric 'macs'");
  a.slots[0].node = 12;
  a.slots[0].op.set("aten::conv2d");
  a.slots[0].module.set("layer1");
  const auto v = judge(a, by_signal(SIGABRT));
  EXPECT_EQ(v.status, 5);
  EXPECT_EQ(v.message,
            "plugin com.acme.layers crashed (abort) on metric 'macs' on node 12 (aten::conv2d in "
            "layer1)");
  ASSERT_TRUE(v.offender);
  EXPECT_EQ(v.offender->plugin, "com.acme.layers");
  EXPECT_TRUE(v.offender->opened);
}

TEST(Verdict, CodeOfTheFileIsTheModelsFaultAndNoPluginsIsLeftOut) {
  Activity a;
  a.stage = Stage::kReading;
  a.engine.set("LibTorch");
  a.slots[0].plugin.set("org.tmeter.torch-backend");
  a.slots[0].at.set("aten::max_pool2d_with_indices_backward of layer1");
  const auto v = judge(a, by_signal(SIGSEGV));
  EXPECT_EQ(v.status, 6);
  EXPECT_TRUE(
      v.message.starts_with("dir/model.pt: LibTorch crashed (segmentation fault) in "
                            "aten::max_pool2d_with_indices_backward of layer1;"))
      << v.message;
  EXPECT_FALSE(v.offender);
}

TEST(Verdict, AThreadThatCrashedIsPreferredAndAnUnknownOneFallsBackToABusyOne) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("com.acme.main");
  a.slots[3].plugin.set("com.acme.thread");
  a.crashed_slot = 3;
  EXPECT_EQ(judge(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.thread");
  a.crashed_slot = 5;  // started by a plugin: it never said what it does
  EXPECT_EQ(judge(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.main");
  a.crashed_slot = 1 << 20;  // whatever stands in the page
  EXPECT_EQ(judge(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.main");
}

TEST(Verdict, OurOwnCrashIsADefectOfOurs) {
  Activity a;
  a.stage = Stage::kWriting;
  const auto v = judge(a, by_signal(SIGSEGV));
  EXPECT_EQ(v.status, 1);
  EXPECT_NE(v.message.find("while writing reports; this is a defect of tmeter"), std::string::npos);
  EXPECT_FALSE(v.offender);
}

TEST(Verdict, ALoaderThatStallsOrTakesTooMuchIsTheModelsFault) {
  Activity a;
  a.stage = Stage::kReading;
  a.slots[0].plugin.set("org.tmeter.pt2");
  const auto v = judge(a, {EndedBy::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt2"});
  EXPECT_EQ(v.status, 4);
  EXPECT_EQ(v.message, "m.pt2: plugin org.tmeter.pt2 was not done after 5 s (--timeout)");
  EXPECT_FALSE(v.offender);
}

TEST(Verdict, TextsOfThePageAreCutNotTrusted) {
  Activity a;
  a.slots[0].plugin.set(std::string(10'000, 'x'));
  EXPECT_EQ(a.slots[0].plugin.text().size(), 95u);
  a.stage = static_cast<Stage>(77);
  EXPECT_NE(judge(a, by_signal(SIGSEGV)).status, 0);
}

}  // namespace
}  // namespace tmeter::core
