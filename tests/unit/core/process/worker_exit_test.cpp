#include "core/process/worker_exit.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace tmeter::core {
namespace {

WorkerExit by_signal(int number) {
  return {ExitCause::kItself, number, {}, "dir/model.pt", "LibTorch"};
}

TEST(WorkerExit, APluginThatCrashesOnANodeIsTheOffender) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("com.acme.layers");
  a.slots[0].doing.set("on metric 'macs'");
  a.slots[0].node = 12;
  a.slots[0].op.set("aten::conv2d");
  a.slots[0].module.set("layer1");
  const auto v = explain_worker_exit(a, by_signal(SIGABRT));
  EXPECT_EQ(v.status, 5);
  EXPECT_EQ(v.message,
            "plugin com.acme.layers crashed (abort) on metric 'macs' on node 12 (aten::conv2d in "
            "layer1)");
  ASSERT_TRUE(v.offender);
  EXPECT_EQ(v.offender->plugin, "com.acme.layers");
  EXPECT_TRUE(v.offender->opened);
  EXPECT_TRUE(v.offender->requested);
  EXPECT_FALSE(v.reports_stand);
}

TEST(WorkerExit, ACrashOfTheFilesCodeIsAttributedToTheModelAndCostsNoPlugin) {
  Activity a;
  a.stage = Stage::kReading;
  a.engine.set("LibTorch");
  a.slots[0].plugin.set("org.tmeter.torch-backend");
  a.slots[0].at.set("aten::max_pool2d_with_indices_backward of layer1");
  const auto v = explain_worker_exit(a, by_signal(SIGSEGV));
  EXPECT_EQ(v.status, 6);
  EXPECT_TRUE(
      v.message.starts_with("dir/model.pt: LibTorch crashed (segmentation fault) in "
                            "aten::max_pool2d_with_indices_backward of layer1;"))
      << v.message;
  EXPECT_FALSE(v.offender);
}

TEST(WorkerExit, TheCrashedThreadIsPreferredAndAnUnknownOneFallsBackToABusyOne) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("com.acme.main");
  a.slots[3].plugin.set("com.acme.thread");
  a.crashed_slot = 3;
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.thread");
  a.crashed_slot = 5;  // a thread that a plugin started and that has no recorded activity
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.main");
  a.crashed_slot = 1 << 20;  // an arbitrary value in the shared page
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.main");
}

TEST(WorkerExit, ACrashOutsideOfPluginsIsADefectOfTmeter) {
  Activity a;
  a.stage = Stage::kWriting;
  const auto v = explain_worker_exit(a, by_signal(SIGSEGV));
  EXPECT_EQ(v.status, 1);
  EXPECT_NE(v.message.find("while writing reports; this is a defect of tmeter"), std::string::npos);
  EXPECT_FALSE(v.offender);
}

TEST(WorkerExit, ALoaderThatStallsOrTakesTooMuchIsAttributedToTheModel) {
  Activity a;
  a.stage = Stage::kReading;
  a.slots[0].plugin.set("org.tmeter.pt2");
  const auto v = explain_worker_exit(a, {ExitCause::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt2"});
  EXPECT_EQ(v.status, 4);
  EXPECT_EQ(v.message, "m.pt2: plugin org.tmeter.pt2 did not finish within 5 s (--timeout)");
  EXPECT_FALSE(v.offender);
}

TEST(WorkerExit, TextsOfThePageAreCutNotTrusted) {
  Activity a;
  a.slots[0].plugin.set(std::string(10'000, 'x'));
  EXPECT_EQ(a.slots[0].plugin.text().size(), 255u);
  a.stage = static_cast<Stage>(77);
  EXPECT_NE(explain_worker_exit(a, by_signal(SIGSEGV)).status, 0);
}

TEST(WorkerExit, SignalsAreDescribedInWords) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("p");
  const std::pair<int, const char*> signals[] = {
      {SIGSEGV, "segmentation fault"},
      {SIGBUS, "bus error"},
      {SIGFPE, "arithmetic error, as a division by zero"},
      {SIGILL, "illegal instruction"},
      {SIGABRT, "abort"},
      {SIGSYS, "forbidden system call"},
      {SIGTRAP, "trap"},
      {SIGKILL, "killed, perhaps for want of memory"},
      {SIGTERM, "terminated"},
      {SIGXCPU, "limit of processor time"},
      {SIGALRM, "timer"},
      {SIGVTALRM, "timer"},
      {SIGPROF, "timer"},
      {SIGXFSZ, "limit of file size"},
      {SIGPIPE, "write to a closed pipe"},
      {SIGUSR1, "signal 10"}};
  for (const auto& [number, words] : signals)
    EXPECT_EQ(explain_worker_exit(a, by_signal(number)).message,
              std::string("plugin p crashed (") + words + ")");
  EXPECT_EQ(explain_worker_exit(a, by_signal(3 << 8)).message,  // exit(3)
            "plugin p ended the process (exit 3)");
}

TEST(WorkerExit, TheActivityOfPluginsIsReported) {
  Activity a;
  a.stage = Stage::kAnalysing;
  auto& s = a.slots[0];
  s.plugin.set("p");
  const auto message = [&] { return explain_worker_exit(a, by_signal(SIGABRT)).message; };
  s.node = 0;
  s.op.set("aten::add");
  EXPECT_EQ(message(), "plugin p crashed (abort) on node 0 (aten::add)");
  s.at.set("its table");
  EXPECT_EQ(message(), "plugin p crashed (abort) on node 0 (aten::add), its table");
  s.node = -1;
  EXPECT_EQ(message(), "plugin p crashed (abort), its table");
}

TEST(WorkerExit, ExceededLimitsAreAttributedToTheRunningPlugin) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("p");
  const WorkerExit slow{ExitCause::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt"};
  const WorkerExit large{ExitCause::kMemory, SIGKILL, "8.0 GiB (--max-memory)", "m.pt"};
  const WorkerExit garbage{ExitCause::kBadFrame, SIGKILL, "", "m.pt"};
  EXPECT_EQ(explain_worker_exit(a, slow).message, "plugin p did not finish within 5 s (--timeout)");
  EXPECT_EQ(explain_worker_exit(a, large).message,
            "plugin p took more memory than 8.0 GiB (--max-memory)");
  for (const auto& end : {slow, large}) {
    EXPECT_EQ(explain_worker_exit(a, end).status, 5);
    ASSERT_TRUE(explain_worker_exit(a, end).offender);
    EXPECT_EQ("plugin p " + explain_worker_exit(a, end).offender->reason,
              explain_worker_exit(a, end).message);
  }
  // The origin of the write is unknown, so the work is not repeated.
  EXPECT_EQ(explain_worker_exit(a, garbage).message,
            "plugin p or one before it broke the connection to tmeter's supervisor (a stray write "
            "or close?)");
  EXPECT_EQ(explain_worker_exit(a, garbage).status, 5);
  EXPECT_FALSE(explain_worker_exit(a, garbage).offender);
}

TEST(WorkerExit, APluginThatFailsWhileItIsOpenedIsLeftOutUnopened) {
  for (const auto stage : {Stage::kStarting, Stage::kReading, Stage::kAnalysing}) {
    Activity a;
    a.stage = stage;
    a.slots[0].plugin.set("dir/p.tmeter");
    a.slots[0].opening = OpenedFor::kRequested;
    const auto v = explain_worker_exit(a, by_signal(SIGSEGV));
    EXPECT_EQ(v.status, 5);
    ASSERT_TRUE(v.offender);
    EXPECT_FALSE(v.offender->opened);
    EXPECT_TRUE(v.offender->requested);
    a.slots[0].opening = OpenedFor::kFound;
    EXPECT_FALSE(explain_worker_exit(a, by_signal(SIGSEGV)).offender->opened);
    EXPECT_FALSE(explain_worker_exit(a, by_signal(SIGSEGV)).offender->requested);
  }
}

TEST(WorkerExit, ACrashOfTheLoaderEndsTheRun) {
  Activity a;
  a.stage = Stage::kReading;
  a.slots[0].plugin.set("p");
  const auto crashed = explain_worker_exit(a, by_signal(SIGSEGV));
  EXPECT_EQ(crashed.status, 5);
  EXPECT_EQ(crashed.message, "dir/model.pt: plugin p crashed (segmentation fault)");
  EXPECT_FALSE(crashed.offender);
  const auto large =
      explain_worker_exit(a, {ExitCause::kMemory, SIGKILL, "1.0 GiB (--max-memory)", "m.pt"});
  EXPECT_EQ(large.status, 4);
  EXPECT_EQ(explain_worker_exit(a, {ExitCause::kBadFrame, SIGKILL, "", "m.pt"}).status, 5);
}

TEST(WorkerExit, CodeOfTheFileThatDoesNotEnd) {
  Activity a;
  a.engine.set("LibTorch");
  const auto slow = explain_worker_exit(
      a, {ExitCause::kTimeout, SIGKILL, "60 s (--timeout)", "m.pt", "LibTorch"});
  EXPECT_EQ(slow.status, 6);
  EXPECT_EQ(
      slow.message,
      "m.pt: LibTorch did not finish within 60 s (--timeout); the file may never end, or needs "
      "a longer --timeout");
  EXPECT_EQ(explain_worker_exit(
                a, {ExitCause::kMemory, SIGKILL, "1.0 GiB (--max-memory)", "m.pt", "LibTorch"})
                .message,
            "m.pt: LibTorch took more memory than 1.0 GiB (--max-memory); the file is damaged "
            "or hostile, or triggers a defect of LibTorch");
}

TEST(WorkerExit, WithoutAPluginTheStageIsReported) {
  Activity a;
  const auto message = [&](const WorkerExit& end) { return explain_worker_exit(a, end).message; };
  const std::string defect = "; this is a defect of tmeter, please report it";
  const std::pair<Stage, std::string> stages[] = {{Stage::kStarting, "starting"},
                                                  {Stage::kReading, "reading the model"},
                                                  {Stage::kAnalysing, "analysing the model"},
                                                  {Stage::kWriting, "writing reports"},
                                                  {Stage::kEnding, "ending plugins"},
                                                  {static_cast<Stage>(5), "working"}};
  for (const auto& [stage, words] : stages) {
    a.stage = stage;
    EXPECT_EQ(message({ExitCause::kItself, SIGSEGV, "", ""}),
              "tmeter crashed (segmentation fault) while " + words + defect);
    const WorkerExit slow{ExitCause::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt"};
    EXPECT_EQ(message(slow), "m.pt: " + words + " did not finish within 5 s (--timeout)");
    EXPECT_EQ(explain_worker_exit(a, slow).status, 4);
  }
  const WorkerExit large{ExitCause::kMemory, SIGKILL, "1.0 GiB (--max-memory)", "m.pt"};
  EXPECT_EQ(message(large), "m.pt: working took more memory than 1.0 GiB (--max-memory)");
  EXPECT_EQ(explain_worker_exit(a, large).status, 4);
  EXPECT_EQ(explain_worker_exit(a, {ExitCause::kBadFrame, SIGKILL, "", ""}).status, 1);
}

/// The plugins that are left out; an offender is marked "!NAME".
std::string left_out(const Outcome& e) {
  std::string names = e.offender ? "!" + e.offender->plugin : "";
  for (const auto& s : e.suspects) names += s.plugin + (s.requested ? "" : "?") + ";";
  return names;
}

const std::vector<Participant> kBoth{{"/x/a.tmeter", "com.acme.a"}, {"/x/b.tmeter", ""}};

WorkerExit with_both(WorkerExit end) {
  end.participants = kBoth;
  return end;
}

TEST(WorkerExit, AfterAFailureWithoutAnOwnerTheWorkIsDoneWithoutThirdPartyPlugins) {
  Activity a;
  a.stage = Stage::kAnalysing;
  const std::string both = "com.acme.a;/x/b.tmeter;";
  const WorkerExit garbage{ExitCause::kBadFrame, SIGKILL, "", "m.pt"};
  const WorkerExit forged{ExitCause::kContract, SIGKILL, "odd", "m.pt"};
  struct Case {
    const char* at_work;
    WorkerExit end;
    std::string left_out;
  };
  for (const auto& c : {Case{"", by_signal(SIGABRT), both},
                        {"org.tmeter.flops", by_signal(SIGABRT), both},
                        {"com.acme.a", by_signal(SIGABRT), "!com.acme.a"},
                        {"/x/b.tmeter", by_signal(SIGSEGV), "!/x/b.tmeter"},
                        {"com.acme.a", by_signal(SIGALRM), both},
                        {"com.acme.a", by_signal(SIGXCPU), both},
                        {"com.acme.a", garbage, both},
                        {"com.acme.a", forged, both},
                        {"", forged, both},
                        {"", by_signal(7 << 8), both}}) {
    a.slots[0].plugin.set(c.at_work);
    const auto v = explain_worker_exit(a, with_both(c.end));
    EXPECT_EQ(left_out(v), c.left_out) << v.message;
    EXPECT_EQ(v.status, 5);
    EXPECT_EQ(v.message.find("defect of tmeter"), v.message.npos) << v.message;
  }
  a.slots[0].plugin.set("org.tmeter.flops");
  const auto crashed = explain_worker_exit(a, with_both(by_signal(SIGABRT)));
  EXPECT_EQ(crashed.message,
            "plugin org.tmeter.flops crashed (abort); the work is done again without plugins that "
            "are not tmeter's own: com.acme.a, /x/b.tmeter");
  EXPECT_EQ(crashed.suspects[0].reason, "took part in a run that crashed (abort)");
  EXPECT_TRUE(crashed.suspects[0].suspected);
  const WorkerExit slow{ExitCause::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt"};
  EXPECT_EQ(left_out(explain_worker_exit(a, with_both(slow))), "!org.tmeter.flops");
  a.engine.set("LibTorch");
  EXPECT_EQ(explain_worker_exit(a, with_both(by_signal(SIGSEGV))).status, 6);
  EXPECT_EQ(left_out(explain_worker_exit(a, with_both(by_signal(SIGALRM)))), both);
}

TEST(WorkerExit, TheLastWordsOfTheWorkerAreShown) {
  Activity a;
  a.engine.set("LibTorch");
  a.slots[0].plugin.set("p");
  a.fatal_message.set("m.pt: the file was changed");
  const auto v = explain_worker_exit(a, by_signal(4 << 8));  // exit(4)
  EXPECT_EQ(v.status, 4);
  EXPECT_EQ(v.message, "m.pt: the file was changed");
  EXPECT_FALSE(v.offender);
  // Any code may write these words. The exit must match them, and plugins that took part are left
  // out.
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGBUS)).status, 6);
  EXPECT_EQ(explain_worker_exit(a, by_signal(5 << 8)).status, 6);
  EXPECT_EQ(left_out(explain_worker_exit(a, with_both(by_signal(4 << 8)))),
            "com.acme.a;/x/b.tmeter;");
  // The supervisor itself detects that the file became shorter.
  auto shrank = with_both(by_signal(4 << 8));
  shrank.file_shrank = true;
  EXPECT_EQ(left_out(explain_worker_exit(a, shrank)), "");
}

TEST(WorkerExit, WithoutMemoryLeftTheWorkIsDoneWithoutThirdPartyPlugins) {
  Activity a;
  const Outcome failed{4, "out of memory", false, {}};
  EXPECT_EQ(left_out(explain_failure(a, failed, kBoth)), "");
  a.no_memory_left = true;
  EXPECT_EQ(explain_failure(a, failed, {}).status, 4);
  const auto v = explain_failure(a, failed, kBoth);
  EXPECT_EQ(v.status, 5);
  EXPECT_EQ(left_out(v), "com.acme.a;/x/b.tmeter;");
  EXPECT_EQ(v.suspects[0].reason, "took part in a run that left no memory");
  auto own = failed;
  own.offender = Excluded{"org.tmeter.flops", "failed", true, true};
  EXPECT_EQ(left_out(explain_failure(a, own, kBoth)), "com.acme.a;/x/b.tmeter;");
  auto theirs = failed;
  theirs.offender = Excluded{"com.acme.a", "failed", true, true};
  EXPECT_EQ(left_out(explain_failure(a, theirs, kBoth)), "!com.acme.a");
}

TEST(WorkerExit, AnEngineThatTheWorkerHasNotReportedIsIgnored) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[0].plugin.set("com.acme.a");
  a.engine.set("LibTorch");
  auto end = with_both(by_signal(SIGSEGV));
  end.engine = "";
  EXPECT_EQ(left_out(explain_worker_exit(a, end)), "!com.acme.a");
}

TEST(WorkerExit, ADamagedPageIsNotUsed) {
  for (uint64_t Activity::*seal :
       {&Activity::first_seal, &Activity::middle_seal, &Activity::last_seal}) {
    Activity a;
    a.stage = Stage::kReading;
    a.slots[0].plugin.set("org.tmeter.flops");
    a.engine.set("LibTorch");
    a.fatal_message.set("nonsense");
    a.no_memory_left = true;
    a.*seal = ~uint64_t{0};
    const auto crashed = explain_worker_exit(a, with_both(by_signal(SIGSEGV)));
    EXPECT_EQ(crashed.message,
              "dir/model.pt: tmeter crashed (segmentation fault) while working; the work is done "
              "again without plugins that are not tmeter's own: com.acme.a, /x/b.tmeter");
    EXPECT_EQ(crashed.status, 5);
    const WorkerExit slow{ExitCause::kTimeout, SIGKILL, "5 s (--timeout)", "m.pt"};
    EXPECT_EQ(left_out(explain_worker_exit(a, with_both(slow))), "com.acme.a;/x/b.tmeter;");
    EXPECT_EQ(explain_worker_exit(a, slow).status, 4);
    EXPECT_TRUE(explain_failure(a, {4, "no", false, {}}, kBoth).suspects.empty());
  }
}

TEST(WorkerExit, AThreadWithoutAnActivityFallsBackToABusyOneInAnySlot) {
  Activity a;
  a.stage = Stage::kAnalysing;
  a.slots[7].plugin.set("com.acme.thread");
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.thread");
  a.crashed_slot = 0;  // the main thread, which is in no plugin
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.thread");
  a.slots[63].plugin.set("com.acme.last");
  a.crashed_slot = 63;
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.last");
  a.crashed_slot = 64;
  EXPECT_EQ(explain_worker_exit(a, by_signal(SIGSEGV)).offender->plugin, "com.acme.thread");
}

}  // namespace
}  // namespace tmeter::core
