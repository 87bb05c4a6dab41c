// What is left behind in a process, each change in a process of its own.
#include "core/process/surroundings.hpp"

#include <gtest/gtest.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include <cfenv>
#include <functional>
#include <locale>
#include <thread>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::in_child;

/// What is said after `change`, in a process where it is the only one.
std::string told(const std::function<void()>& change, bool threads_may_stay = false) {
  return in_child([&] {
           const auto before = Surroundings::now();
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

TEST(Surroundings, NothingIsSaidOfNothing) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  EXPECT_EQ(told([] {}), "");
  EXPECT_EQ(told([] { std::thread([] {}).join(); }), "");
  // What is put back was not changed.
  EXPECT_EQ(told([] { umask(umask(0)), handle(SIGUSR1, 0); }), "");
}

TEST(Surroundings, EachChangeIsNamed) {
  EXPECT_EQ(told([] { umask(0); }), "it changed the umask");
  EXPECT_EQ(told([] { EXPECT_EQ(chdir("/proc"), 0); }), "it changed the working directory");
  EXPECT_EQ(told([] { block(SIGUSR1); }), "it changed which signals are blocked");
  EXPECT_EQ(told([] { block(SIGRTMAX - 1); }), "it changed which signals are blocked");
  EXPECT_EQ(told([] { std::fesetround(FE_DOWNWARD); }),
            "it changed how the processor computes (rounding, denormal numbers or traps)");
  EXPECT_EQ(told([] { uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)); }),
            "it changed the locale");
  EXPECT_EQ(told([] { setlocale(LC_CTYPE, "C.UTF-8"); }), "it changed the locale");
}

TEST(Surroundings, TheFirstAndTheLastSignalAreLookedAt) {
  EXPECT_EQ(told([] { signal(SIGHUP, SIG_IGN); }), "it changed what happens at signal 1 (Hangup)");
  EXPECT_EQ(told([] { signal(SIGSYS, SIG_IGN); }),
            "it changed what happens at signal 31 (Bad system call)");
  EXPECT_EQ(told([] { handle(SIGUSR1, SA_RESTART); }),
            "it changed what happens at signal 10 (User defined signal 1)");
}

TEST(Surroundings, AThreadThatStaysIsToldUnlessItMay) {
  if (!testing::kProcessIsAlone) GTEST_SKIP();
  EXPECT_EQ(told(leave_a_thread), "it left a thread running");
  EXPECT_EQ(told(leave_a_thread, true), "");
  // One that is just ending is waited for.
  EXPECT_EQ(told([] { std::thread([] { usleep(10'000); }).detach(); }), "");
  // One instead of another is one that stays.
  EXPECT_EQ(told([] { std::thread([] { std::thread([] { sleep(600); }).detach(); }).join(); }),
            "it left a thread running");
}

TEST(Arithmetic, ComesBackAsItWas) {
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
