// Runs of the supervisor with workers of many kinds, each in a process of its own.
#include "core/process/supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <stdexcept>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/interrupt.hpp"
#include "core/process/activity.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::Ended;
using ::tmeter::testing::in_child;

Job job(std::vector<std::string> targets = {""}) {
  Job j;
  j.subject = "m.pt";
  j.targets = std::move(targets);
  j.limits.memory = uint64_t{1} << 30;
  return j;
}

Outcome ended(int status, std::string message = {}) {
  Outcome e;
  e.status = status;
  e.message = std::move(message);
  return e;
}

/// Marks all reports of `work` as whole if it succeeds.
Work with_whole_reports(const Job& j, const Work& work) {
  return [&j, &work](Worker& w) -> Outcome {
    const auto whole = [&] {
      for (size_t i = 0; i < j.targets.size(); ++i) w.report_whole(i);
    };
    try {
      auto outcome = work(w);
      whole();
      return outcome;
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kAssertion) whole();
      throw;
    }
  };
}

Ended run(const Job& j, const Work& work) {
  return in_child([&] { return supervise(j, with_whole_reports(j, work)); });
}

/// Like `run`, with one second for the worker; a second try in case the machine was busy.
Ended run_in_time(const Job& j, const Work& work, const std::string& err) {
  auto done = run(j, work);
  for (int i = 0; i < 3 && done.err != err; ++i) done = run(j, work);
  return done;
}

std::string temporary(const char* name) {
  return ::testing::TempDir() + "supervisor-" + std::to_string(getpid()) + name;
}

/// Reads a file and removes it; "(none)" if it is missing.
std::string taken(const std::string& path) {
  std::ifstream in(path);
  if (!in) return "(none)";
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  return text;
}

void expect(const Ended& e, int status, const std::string& out, const std::string& err) {
  EXPECT_EQ(e.status(), status);
  EXPECT_EQ(e.out, out);
  EXPECT_EQ(e.err, err);
}

[[noreturn]] void hang() {
  for (;;) pause();
}

// --- messages of a worker -----------------------------------------------------------------------

TEST(Supervisor, ReportsAppearWhenTheWorkIsDone) {
  const auto file = temporary("report");
  const auto done = run(job({"", file, "", file + "-never"}), [&](Worker& w) -> Outcome {
    w.report(2, "last");
    w.report(0, "first, ");
    w.report(1, "a file");
    w.report(0, "second, ");
    return {};
  });
  expect(done, 0, "first, second, last", "");
  EXPECT_EQ(taken(file), "a file");
  EXPECT_EQ(taken(file + "-never"), "(none)");  // it was never written
}

TEST(Supervisor, FailedWorkWritesNoReports) {
  const auto file = temporary("report");
  const auto work = [](int status) {
    return [=](Worker& w) -> Outcome {
      w.report(0, "half");
      w.report(1, "half");
      return ended(status, "why");
    };
  };
  for (const int status : {1, 2, 4, 5, 6, 130}) {
    expect(run(job({"", file}), work(status)), status, "", "tmeter: why\n");
    EXPECT_EQ(taken(file), "(none)");
  }
}

TEST(Supervisor, AFailedAssertionKeepsTheReports) {
  const auto thrown = run(job(), [](Worker& w) -> Outcome {
    w.report(0, "whole");
    throw Error(ErrorKind::kAssertion, "macs < 10 does not hold");
  });
  expect(thrown, 3, "whole", "tmeter: macs < 10 does not hold\n");
  const auto returned = run(job(), [](Worker& w) -> Outcome {
    w.report(0, "whole");
    auto e = ended(5, "of two reports one could not be written");
    e.reports_stand = true;
    return e;
  });
  expect(returned, 5, "whole", "tmeter: of two reports one could not be written\n");
}

TEST(Supervisor, LargeReportsArriveWhole) {
  const std::string large(20 << 20, 'x');  // more than the supervisor keeps in memory
  const auto done = run(job(), [&](Worker& w) -> Outcome {
    w.report(0, "begin ");
    w.report(0, large);
    w.report(0, " end");
    return {};
  });
  EXPECT_EQ(done.status(), 0);
  EXPECT_EQ(done.out, "begin " + large + " end");
}

TEST(Supervisor, MessagesAreOneLineEachAndShownOnce) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    w.message("note: a\nb");
    w.message("note: c");
    w.message("note: c");
    w.progress(1, 2, "B");
    w.progress_ended();
    return {};
  });
  expect(done, 0, "", "tmeter: note: a\\nb\ntmeter: note: c\n");
}

TEST(Supervisor, ExceptionsOfTheWorkBecomeAMessageAndAStatus) {
  const auto thrown = [](auto what) { return run(job(), [=](Worker&) -> Outcome { throw what; }); };
  expect(thrown(Error(ErrorKind::kRun, "because")), 6, "", "tmeter: because\n");
  expect(thrown(std::bad_alloc()), 4, "",
         ::tmeter::testing::kMemoryIsLimited
             ? "tmeter: out of memory: more than 1.0 GiB (--max-memory) is needed\n"
             : "tmeter: out of memory\n");
  expect(thrown(std::runtime_error("odd")), 1, "", "tmeter: internal error: odd\n");
  expect(thrown(1), 1, "", "tmeter: internal error: an unknown exception\n");
}

/// Sends a frame, as code that writes to a wrong descriptor would.
void forge(FrameKind kind, uint64_t first = 0, uint64_t second = 0) {
  struct {
    uint32_t kind, size = 0;
    uint64_t first, second;
  } const frame{static_cast<uint32_t>(kind), 0, first, second};
  for (int fd = 3; fd < 2000; ++fd)
    if (write(fd, &frame, sizeof frame) > 0) return;
}

TEST(Supervisor, ForbiddenFramesBreakTheContract) {
  struct Case {
    const char* defect;
    std::function<void(Worker&)> deed;
  };
  const std::vector<Case> cases{
      {"it reports to a target that does not exist", [](Worker& w) { w.report(1, "x"); }},
      {"it reports to a target that does not exist", [](Worker& w) { w.report_whole(7); }},
      {"it hands over a report without bytes",
       [](Worker&) { forge(FrameKind::kLongReport, 0, ~uint64_t{0}); }},
      {"it adds to a completed report", [](Worker& w) { w.report_whole(0), w.report(0, "x"); }},
      {"a report is incomplete",
       [](Worker& w) { w.report(0, "x"), forge(FrameKind::kReportWhole, 0, 99); }},
      {"it finishes although a report is missing", [](Worker&) { forge(FrameKind::kFinished); }},
      {"its status 7 does not exist", [](Worker&) { forge(FrameKind::kFinished, 7); }},
      {"its status 4294967296 does not exist",
       [](Worker&) { forge(FrameKind::kFinished, uint64_t{1} << 32); }},
      {"it runs the model, which was not requested", [](Worker& w) { w.runs_model("x"); }},
      {"it blames a second plugin",
       [](Worker&) { forge(FrameKind::kOffender), forge(FrameKind::kOffender); }},
      {"it sends frames after its end",
       [](Worker& w) { w.report_whole(0), w.finish({}), forge(FrameKind::kMessage); }},
  };
  for (const auto& [defect, deed] : cases) {
    const auto done = run(job(), [&](Worker& w) -> Outcome {
      const PluginScope inside("com.acme.p", "on metric 'm'");
      deed(w);
      hang();
    });
    expect(
        done, 5, "",
        std::string("tmeter: plugin com.acme.p or one before it broke the worker's contract with "
                    "tmeter's supervisor (") +
            defect + ") on metric 'm'\n");
  }
}

TEST(Supervisor, AWorkerThatStaysAfterItsEndIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run(job(), [&](Worker& w) -> Outcome {
    const PluginScope inside("com.acme.p", "on metric 'm'");
    w.report(0, "whole");
    w.report_whole(0);
    w.finish({});
    hang();
  });
  expect(
      done, 5, "",
      "tmeter: plugin com.acme.p or one before it kept the worker running for 5 s after its end on "
      "metric 'm'\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST(Supervisor, AnExitThatContradictsTheReportedEndIsAbnormal) {
  const auto done = run(job(), [&](Worker& w) -> Outcome {
    const PluginScope inside("com.acme.p", "on metric 'm'");
    w.report_whole(0);
    w.finish({});
    _exit(3);
  });
  EXPECT_EQ(done.status(), 5);
  EXPECT_TRUE(done.err.find("(it ended abnormally)") != std::string::npos) << done.err;
}

TEST(Supervisor, AnUnwritableDestinationIsReportedAndNoWorkerIsLeft) {
  const auto done = run(job({"/nonexistent/r"}), [](Worker&) -> Outcome { hang(); });
  EXPECT_EQ(done.status(), 2);
  EXPECT_TRUE(done.err.starts_with("tmeter: report file /nonexistent/r cannot be written"))
      << done.err;
}

TEST(Supervisor, ACommandWritesToItsFileOrToStandardOutput) {
  const auto file = temporary("command");
  const Work work = [](Worker& w) -> Outcome {
    w.report(0, "words");
    return {};
  };
  expect(in_child([&] { return supervise_command(file, work); }), 0, "", "");
  EXPECT_EQ(taken(file), "words");
  expect(in_child([&] { return supervise_command("", work); }), 0, "words", "");
}

TEST(Supervisor, ACommandHasItsShareOfTheMachinesMemory) {
  if (!::tmeter::testing::kMemoryIsLimited) GTEST_SKIP();
  const auto done = in_child([] {
    return supervise_command("", [](Worker& w) -> Outcome {
      rlimit data{};
      getrlimit(RLIMIT_DATA, &data);
      w.report(0, data.rlim_cur == default_max_memory() ? "all of it" : "not that");
      return {};
    });
  });
  expect(done, 0, "all of it", "");
}

TEST(Supervisor, AMachineWithoutFreeResourcesIsReported) {
  if (!::tmeter::testing::kMemoryIsLimited) GTEST_SKIP();
  const auto without = [](long call, int error) {
    return in_child([=] {
      testing::fail_call(call, error);
      return supervise(job(), [](Worker&) -> Outcome { return {}; });
    });
  };
  expect(without(SYS_clone, EAGAIN), 6, "",
         "tmeter: no process can be started (fork: Resource temporarily unavailable); see `ulimit "
         "-u`\n");
  expect(without(SYS_signalfd4, EMFILE), 6, "",
         "tmeter: cannot start: signalfd: Too many open files\n");
  expect(without(SYS_pipe2, EMFILE), 6, "", "tmeter: cannot start: pipe: Too many open files\n");
  expect(without(SYS_mmap, ENOMEM), 6, "",
         "tmeter: no memory to start with: Cannot allocate memory\n");
}

// --- the worker's process -----------------------------------------------------------------------

TEST(Supervisor, AWorkerHasOnlyItsPipesOpen) {
  constexpr int kFarFile = 1500;  // beyond the pipe to the supervisor
  ASSERT_EQ(dup2(STDERR_FILENO, kFarFile), kFarFile);
  const auto done = run(job(), [](Worker& w) -> Outcome {
    std::string open;
    for (int fd = 0; fd < 2000; ++fd) {
      std::error_code none;
      const auto what = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none);
      if (!none) open += std::to_string(fd) + " " + what.string().substr(0, 5) + "\n";
    }
    w.report(0, open);
    return {};
  });
  close(kFarFile);
  expect(done, 0, "0 pipe:\n1 pipe:\n2 pipe:\n900 pipe:\n", "");
}

TEST(Supervisor, AWorkerReadsNothingFromStandardInputAndKeepsItsSignals) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    char byte = 0;
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    const bool free = !sigismember(&blocked, SIGINT) && !sigismember(&blocked, SIGTERM);
    w.report(0, read(0, &byte, 1) == 0 && free ? "as it should" : "not so");
    return {};
  });
  expect(done, 0, "as it should", "");
}

TEST(Supervisor, AWorkerEndsWithItsSupervisor) {
  auto* worker = static_cast<std::atomic<pid_t>*>(
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto done = run(job(), [&](Worker&) -> Outcome {
    *worker = getpid();
    kill(getppid(), SIGKILL);
    hang();
  });
  EXPECT_EQ(done.status(), 128 + SIGKILL);
  for (int i = 0; i < 2000 && kill(*worker, 0) == 0; ++i) {
    std::string state;  // a zombie counts as gone
    std::ifstream stat("/proc/" + std::to_string(*worker) + "/stat");
    stat >> state >> state >> state;
    if (state == "Z") break;
    ASSERT_LT(i, 1999) << "it still exists";
    usleep(5000);
  }
  munmap(worker, sizeof(pid_t));
}

// --- how workers end ----------------------------------------------------------------------------

/// The first worker does `deed` inside a plugin; later ones report without it.
Work once_in_plugin(const std::function<void(Worker&)>& deed) {
  return [=](Worker& w) -> Outcome {
    if (w.excluded().empty()) {
      const PluginScope inside("com.acme.p", "on metric 'm'");
      deed(w);
      hang();
    }
    const auto& e = w.excluded().front();
    w.report(0, "without " + e.plugin + (e.opened ? "" : ", not opened") + ": " + e.reason);
    return {};
  };
}

TEST(Supervisor, AfterACrashTheWorkIsDoneWithoutThePlugin) {
  const std::pair<int, std::string> signals[] = {
      {SIGSEGV, "segmentation fault"},
      {SIGBUS, "bus error"},
      {SIGFPE, "arithmetic error, as a division by zero"},
      {SIGILL, "illegal instruction"},
      {SIGABRT, "abort"},
      {SIGSYS, "forbidden system call"},
      {SIGKILL, "killed, perhaps for want of memory"}};
  for (const auto& [number, words] : signals) {
    const auto reason = "crashed (" + words + ") on metric 'm'";
    const auto done = run(job(), once_in_plugin([n = number](Worker&) { raise(n); }));
    expect(done, 5, "without com.acme.p: " + reason, "tmeter: plugin com.acme.p " + reason + "\n");
  }
}

TEST(Supervisor, ACrashIsAttributedToItsThreadNotToTheMainThread) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS}) {
    const auto done = run(job(), [=](Worker& w) -> Outcome {
      if (!w.excluded().empty()) return ended(0);
      const PluginScope waiting("com.acme.waits", "on its threads");
      std::thread([=] {
        const PluginScope inside("com.acme.p", "on metric 'm'");
        raise(number);
      }).join();
      return {};
    });
    EXPECT_EQ(done.status(), 5);
    EXPECT_TRUE(done.err.starts_with("tmeter: plugin com.acme.p crashed (")) << done.err;
  }
}

TEST(Supervisor, AStackOverflowIsReported) {
  const auto done = run(job(), once_in_plugin([](Worker&) {
                          std::function<int(int)> deeper = [&](int n) {
                            volatile char much[4096];
                            much[0] = static_cast<char>(n);
                            return deeper(n + 1) + much[0];
                          };
                          deeper(0);
                        }));
  EXPECT_EQ(done.status(), 5);
  EXPECT_TRUE(done.err.find("crashed (segmentation fault)") != std::string::npos) << done.err;
}

TEST(Supervisor, AnExitIsAttributedToTheRunningPluginOrToTmeter) {
  const auto inside = run(job(), once_in_plugin([](Worker&) { _exit(7); }));
  const std::string reason = "ended the process (exit 7) on metric 'm'";
  expect(inside, 5, "without com.acme.p: " + reason, "tmeter: plugin com.acme.p " + reason + "\n");
  const auto outside = run(job(), [](Worker&) -> Outcome { _exit(7); });
  EXPECT_EQ(outside.status(), 1);
  EXPECT_TRUE(outside.err.starts_with("tmeter: m.pt: tmeter ended the process (exit 7) while "))
      << outside.err;
}

TEST(Supervisor, WorkThatFailsWithoutThePluginKeepsItsOwnStatus) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    if (!w.excluded().empty()) return ended(4, "the model is damaged");
    const PluginScope inside("com.acme.p", "on metric 'm'");
    abort();
  });
  EXPECT_EQ(done.status(), 4);
  EXPECT_TRUE(done.err.ends_with("tmeter: the model is damaged\n")) << done.err;
}

/// Fails with `error` until its plugin is left out.
Ended failing(const PluginError& error, bool throws, bool quiet = false) {
  auto j = job();
  j.quiet = quiet;
  return run(j, [=](Worker& w) -> Outcome {
    for (const auto& e : w.excluded()) {
      const auto state = e.plugin + "; " + e.reason + (e.opened ? "; opened" : "; not opened");
      w.report(0, state + (e.requested ? "; asked for" : "; found"));
    }
    if (!w.excluded().empty()) return {};
    if (throws) throw error;
    auto e = ended(5, error.what());
    e.offender = Excluded{error.plugin(), error.reason(), error.opened(), false};
    return e;
  });
}

TEST(Supervisor, AfterAnErrorTheWorkIsDoneWithoutThePlugin) {
  const PluginError opened("com.acme.p", "on metric 'm'", "no bias");
  const std::string reason = "failed on metric 'm': no bias";
  expect(failing(opened, true), 5, "com.acme.p; " + reason + "; opened; asked for",
         "tmeter: plugin com.acme.p " + reason + "\n");
  const PluginError unopened("p.tmeter", "while it was opened", "odd", false);
  EXPECT_EQ(failing(unopened, true).out,
            "p.tmeter; failed while it was opened: odd; not opened; asked for");
}

TEST(Supervisor, AFailureOfAPluginThatWasNotRequestedIsANote) {
  const PluginError error("com.acme.p", "on metric 'm'", "no bias");
  const std::string left = "com.acme.p; failed on metric 'm': no bias; opened; found";
  expect(failing(error, false), 0, left,
         "tmeter: note: plugin com.acme.p failed on metric 'm': no bias; it is left out\n");
  expect(failing(error, false, true), 0, left, "");
}

TEST(Supervisor, APluginThatIsLeftOutAndStillFailsEndsTheRun) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    w.report(0, "half");
    throw PluginError("com.acme.p", "on metric 'm'", std::to_string(w.excluded().size()));
  });
  expect(done, 5, "",
         "tmeter: plugin com.acme.p failed on metric 'm': 0\n"
         "tmeter: plugin com.acme.p failed on metric 'm': 1\n");
}

TEST(Supervisor, SevenBadPluginsAreLeftOutTheEighthEndsTheRun) {
  const auto bad_plugins = [](size_t count) {
    return run(job(), [=](Worker& w) -> Outcome {
      const auto left_out = w.excluded().size();
      if (left_out == count) return {};
      const PluginScope inside("p" + std::to_string(left_out), "on metric 'm'");
      abort();
    });
  };
  const auto lines = [](const Ended& e) { return std::count(e.err.begin(), e.err.end(), '\n'); };
  EXPECT_EQ(bad_plugins(7).status(), 5);
  EXPECT_EQ(lines(bad_plugins(7)), 7);
  const auto endless = bad_plugins(100);
  EXPECT_EQ(endless.status(), 5);
  EXPECT_EQ(lines(endless), 8);
}

TEST(Supervisor, AWorkerThatBreaksItsConnectionIsEnded) {
  const auto garbage = run(job(), once_in_plugin([](Worker&) {
                             const std::string bytes(100, '\xff');
                             for (int fd = 3; fd < 2000; ++fd)
                               if (write(fd, bytes.data(), bytes.size()) > 0) hang();
                           }));
  const std::string words =
      "tmeter: plugin com.acme.p or one before it broke the connection to tmeter's supervisor (a "
      "stray write or close?) on metric 'm'\n";
  expect(garbage, 5, "", words);
  const auto closed = run(job(), once_in_plugin([](Worker&) {
                            for (int fd = 0; fd < 2000; ++fd) close(fd);
                          }));
  expect(closed, 5, "", words);
}

// --- limits -------------------------------------------------------------------------------------

TEST(Supervisor, APluginThatTakesTooLongIsEndedAndTheRestIsDone) {
  auto j = job();
  j.limits.timeout = 0.5;
  // The second try has its own second: it would exceed the rest of the first.
  const Work work = [](Worker& w) -> Outcome {
    if (w.excluded().empty()) {
      const PluginScope inside("com.acme.p", "on metric 'm'");
      hang();
    }
    usleep(20'000);
    w.report(0, "done");
    return {};
  };
  const auto message =
      "tmeter: plugin com.acme.p did not finish within 0.5 s (--timeout) on metric 'm'\n";
  expect(run_in_time(j, work, message), 5, "done", message);
}

TEST(Supervisor, TheTimeoutIsThatOfTheWholeRun) {
  auto j = job();
  j.limits.timeout = 60;
  j.limits.running_file = 0.01;  // applies only without another limit
  const auto done = run(j, [](Worker& w) -> Outcome {
    w.runs_file("LibTorch");
    usleep(100'000);
    return ended(0, "done");
  });
  expect(done, 0, "", "tmeter: done\n");
}

TEST(Supervisor, CodeOfTheFileHasATimeLimitEvenIfTheRunHasNone) {
  auto j = job();
  j.limits.running_file = 0.1;
  const auto endless = run(j, [](Worker& w) -> Outcome {
    w.runs_file("LibTorch");
    hang();
  });
  expect(
      endless, 6, "",
      "tmeter: m.pt: LibTorch did not finish within 0.1 s (--timeout); the file may never end, or "
      "needs a longer --timeout\n");
  j.limits.running_file = 0.5;
  const auto returned = run(j, [](Worker& w) -> Outcome {
    w.runs_file("LibTorch");
    w.runs_file("");
    usleep(600'000);
    return ended(0, "done");
  });
  expect(returned, 0, "", "tmeter: done\n");
}

TEST(Supervisor, MemoryIsLimitedForEveryKindOfAllocation) {
  if (!::tmeter::testing::kMemoryIsLimited) GTEST_SKIP();
  auto j = job();
  j.limits.memory = uint64_t{128} << 20;
  const auto allocated = run(j, [](Worker&) -> Outcome {
    const std::string much(200 << 20, 'x');
    return ended(0, much.substr(0, 1));
  });
  expect(allocated, 4, "", "tmeter: out of memory: more than 128.0 MiB (--max-memory) is needed\n");
  const auto shared = run(j, once_in_plugin([](Worker&) {
                            constexpr size_t kMuch = 200 << 20;
                            void* memory = mmap(nullptr, kMuch, PROT_READ | PROT_WRITE,
                                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                            std::memset(memory, 1, kMuch);
                          }));
  const std::string reason = "took more memory than 128.0 MiB (--max-memory) on metric 'm'";
  expect(shared, 5, "without com.acme.p: " + reason, "tmeter: plugin com.acme.p " + reason + "\n");
}

// --- signals ------------------------------------------------------------------------------------

TEST(Supervisor, SignalsRequestTheWorkerToStop) {
  const std::string message = "tmeter: interrupted at 3 of 5\n";
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const Work work = [=](Worker& w) -> Outcome {
      w.report(0, "half");
      usleep(10'000);  // there is nothing to read when the signal arrives
      kill(getppid(), number);
      while (!Interrupt::requested()) usleep(1000);
      return ended(130, "interrupted at 3 of 5");
    };
    expect(run_in_time(job(), work, message), 130, "", message);
  }
}

TEST(Supervisor, AWorkerThatIgnoresARequestToStopIsEnded) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    w.report(0, "half");
    kill(getppid(), SIGINT);
    hang();
  });
  expect(done, 130, "", "tmeter: interrupted; nothing written\n");
}

// --- output of plugins -------------------------------------------------------------------------

TEST(Supervisor, OutputOfPluginsBecomesNotes) {
  const auto print = [](Worker&) -> Outcome {
    const PluginScope inside("com.acme.p", "");
    const bool written = write(1, "to out\n\n", 8) == 8 && write(2, "to err", 6) == 6;
    return ended(written ? 0 : 1);
  };
  expect(
      run(job(), print), 0, "",
      "tmeter: note: printed by com.acme.p: to out\ntmeter: note: printed by com.acme.p: to err\n");
  auto quiet = job();
  quiet.quiet = true;
  expect(run(quiet, print), 0, "", "");
}

TEST(Supervisor, OutputOfSuccessivePluginsIsAttributedToEach) {
  const auto done = run(job(), [](Worker&) -> Outcome {
    for (int round = 0; round < 5; ++round) {
      for (const char* name : {"com.acme.a", "com.acme.b"}) {
        const PluginScope inside(name, "");
        std::printf("%s in round %d%s", name, round, round % 2 ? "\n" : "");
      }
    }
    return ended(0);
  });
  std::string notes;
  for (int round = 0; round < 5; ++round) {
    for (const std::string name : {"com.acme.a", "com.acme.b"})
      notes += "tmeter: note: printed by " + name + ": " + name + " in round " +
               std::to_string(round) + "\n";
  }
  expect(done, 0, "", notes);
}

TEST(Supervisor, OutputAfterANestedPluginIsAttributedToTheOuterOne) {
  const auto done = run(job(), [](Worker&) -> Outcome {
    const PluginScope outer("com.acme.outer", "");
    std::cout << "before\n";
    {
      const PluginScope inner("com.acme.inner", "");
      std::cerr << "amidst\n";
    }
    std::cout << "after\n";
    return ended(0);
  });
  expect(done, 0, "",
         "tmeter: note: printed by com.acme.outer: before\n"
         "tmeter: note: printed by com.acme.inner: amidst\n"
         "tmeter: note: printed by com.acme.outer: after\n");
}

TEST(Supervisor, OutputBeforeACrashIsReported) {
  const auto done = run(job(), [](Worker& w) -> Outcome {
    if (!w.excluded().empty()) return ended(0);
    const PluginScope inside("com.acme.p", "on metric 'm'");
    std::printf("not flushed");
    std::abort();
  });
  EXPECT_EQ(done.status(), 5);
  EXPECT_TRUE(done.err.starts_with("tmeter: note: printed by com.acme.p: not flushed\n"))
      << done.err;
}

TEST(Supervisor, AnUnreadLineDelaysTheWorkerOnce) {
  const auto done = run(job(), [](Worker&) -> Outcome {
    activity().is_listening = true;  // emulates a supervisor that outlives it
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) const PluginScope inside(i % 2 ? "a" : "b", "");
    const auto took = std::chrono::steady_clock::now() - begin;
    return ended(took < std::chrono::seconds(2) ? 0 : 1);
  });
  expect(done, 0, "", "");
}

TEST(Supervisor, OutputBeyondTheCapacityOfAPipeDoesNotBlock) {
  const auto done = run(job(), [](Worker&) -> Outcome {
    const std::string lines(300'000, '\n');
    const bool written = write(1, lines.data(), lines.size()) == 300'000;
    return ended(written ? 0 : 1);
  });
  expect(done, 0, "", "");
}

}  // namespace
}  // namespace tmeter::core
