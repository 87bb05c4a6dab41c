// Changes that code leaves behind in a process, each in a process of its own.
#include "core/process/process_state_snapshot.hpp"

#include <gtest/gtest.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cfenv>
#include <functional>
#include <locale>
#include <thread>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::in_child;

/// The message after `change` alone, in a process of its own.
std::string reported(const std::function<void()>& change, bool threads_may_stay = false) {
  return in_child([&] {
           const auto before = ProcessStateSnapshot::now();
           change();
           const auto words = before.change_since(threads_may_stay);
           return write(STDOUT_FILENO, words.data(), words.size()) < 0 ? 1 : 0;
         })
      .out;
}

void block(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void handle(int number, int flags) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

void leave_a_thread() {
  std::thread([] { sleep(600); }).detach();
}

TEST(ProcessStateSnapshot, WithoutChangesNothingIsReported) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  EXPECT_EQ(reported([] {}), "");
  EXPECT_EQ(reported([] { std::thread([] {}).join(); }), "");
  // A restored state counts as unchanged.
  EXPECT_EQ(reported([] { umask(umask(0)), handle(SIGUSR1, 0); }), "");
}

TEST(ProcessStateSnapshot, EachChangeIsNamed) {
  EXPECT_EQ(reported([] { umask(0); }), "it changed the umask");
  EXPECT_EQ(reported([] { EXPECT_EQ(chdir("/proc"), 0); }), "it changed the working directory");
  EXPECT_EQ(reported([] { block(SIGUSR1); }), "it changed which signals are blocked");
  EXPECT_EQ(reported([] { block(SIGRTMAX - 1); }), "it changed which signals are blocked");
  EXPECT_EQ(reported([] { std::fesetround(FE_DOWNWARD); }),
            "it changed how the processor computes (rounding, denormal numbers or traps)");
  EXPECT_EQ(reported([] { uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)); }),
            "it changed the locale");
  EXPECT_EQ(reported([] { setlocale(LC_CTYPE, "C.UTF-8"); }), "it changed the locale");
}

void set_timer(__itimer_which which, time_t seconds) {
  const itimerval later{{0, 0}, {seconds, 0}};
  setitimer(which, &later, nullptr);
}

TEST(ProcessStateSnapshot, RunningTimersAreReported) {
  for (const auto which : {ITIMER_VIRTUAL, ITIMER_PROF}) {
    EXPECT_EQ(reported([&] { set_timer(which, 600); }), "it left a timer running");
    EXPECT_EQ(reported([&] { set_timer(which, 600), set_timer(which, 0); }), "");
  }
  EXPECT_EQ(reported([] { alarm(0); }), "it left a timer running");  // in_child has set one
  if (access("/proc/self/timers", R_OK) != 0) GTEST_SKIP();
  EXPECT_EQ(reported([] {
              timer_t id{};
              timer_create(CLOCK_MONOTONIC, nullptr, &id);
            }),
            "it left a timer running");
}

TEST(ProcessStateSnapshot, LimitsAndTheEnvironmentAreCompared) {
  for (const auto resource : {RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_RTTIME}) {
    EXPECT_EQ(reported([&] {
                rlimit limit{};
                getrlimit(resource, &limit);
                --limit.rlim_cur;
                setrlimit(resource, &limit);
              }),
              "it changed the limits of the process's resources");
  }
  const auto changed = [](const std::string& name) {
    return "it changed the environment variable " + name;
  };
  setenv("TMETER_TEST_WAS_THERE", "1", 1);
  EXPECT_EQ(reported([] { setenv("TMETER_SANDBOX", "off", 1); }), changed("TMETER_SANDBOX"));
  EXPECT_EQ(reported([] { setenv("TMETER_TEST_WAS_THERE", "2", 1); }),
            changed("TMETER_TEST_WAS_THERE"));
  EXPECT_EQ(reported([] { unsetenv("TMETER_TEST_WAS_THERE"); }), changed("TMETER_TEST_WAS_THERE"));
  EXPECT_EQ(reported([] { setenv("a\nb\x1b", "1", 1); }), changed("a\\nb\\x1b"));
  EXPECT_EQ(reported([] { setenv("__KMP_REGISTERED_LIB_17", "x", 1); }), "");
  EXPECT_EQ(reported([] { setenv("TMETER_TEST_WAS_THERE", "1", 1); }), "");
  EXPECT_TRUE(reported([] { clearenv(); }).starts_with("it changed the environment variable "));
}

TEST(ProcessStateSnapshot, TheFirstAndTheLastSignalAreCompared) {
  EXPECT_EQ(reported([] { signal(SIGHUP, SIG_IGN); }),
            "it changed what happens at signal 1 (Hangup)");
  EXPECT_EQ(reported([] { signal(SIGSYS, SIG_IGN); }),
            "it changed what happens at signal 31 (Bad system call)");
  EXPECT_EQ(reported([] { handle(SIGUSR1, SA_RESTART); }),
            "it changed what happens at signal 10 (User defined signal 1)");
}

TEST(ProcessStateSnapshot, ARunningThreadIsReportedUnlessItIsPermitted) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  EXPECT_EQ(reported(leave_a_thread), "it left a thread running");
  EXPECT_EQ(reported(leave_a_thread, true), "");
  // A thread that is about to end is waited for.
  EXPECT_EQ(reported([] { std::thread([] { usleep(10'000); }).detach(); }), "");
  // A thread that replaces another one stays.
  EXPECT_EQ(reported([] { std::thread([] { std::thread([] { sleep(600); }).detach(); }).join(); }),
            "it left a thread running");
}

TEST(Arithmetic, IsRestored) {
  EXPECT_EQ(in_child([] {
              const auto before = Arithmetic::now();
              std::fesetround(FE_UPWARD);
              feenableexcept(FE_DIVBYZERO);
              uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
              struct Comma : std::numpunct<char> {
                char do_decimal_point() const override { return ','; }
              };
              std::locale::global(std::locale(std::locale(), new Comma));
              if (before == Arithmetic::now()) return 1;
              before.restore();
              if (before != Arithmetic::now() || std::fegetround() != FE_TONEAREST) return 2;
              return std::locale() == std::locale::classic() && fegetexcept() == 0 ? 0 : 3;
            }).status(),
            0);
}

}  // namespace
}  // namespace tmeter::core
