// Signals that end a program, each case in a process of its own.
#include "core/process/end_signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/support/expect_error.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

constexpr auto kMessage = "tmeter: interrupted; nothing written\n";
constexpr std::array kEndSignals{SIGINT, SIGTERM, SIGHUP};

bool is_blocked(int number) {
  sigset_t now;
  sigprocmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, number) == 1;
}

auto handler_of(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler;
}

void block_signal(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

TEST(EndSignals, EndTheProgramAtOnceBeforeThereIsASupervisor) {
  for (const int number : kEndSignals) {
    const auto done = testing::in_child([&] {
      exit_on_signals();
      raise(number);
      return 7;
    });
    EXPECT_EQ(done.status(), 130) << number;
    EXPECT_EQ(done.err, kMessage) << number;
  }
}

TEST(EndSignals, StayIgnoredIfTheyAreIgnoredAtTheStart) {
  for (const int number : kEndSignals) {
    const auto done = testing::in_child([&] {
      signal(number, SIG_IGN);
      exit_on_signals();
      raise(number);
      return 7;
    });
    EXPECT_EQ(done.status(), 7) << number;
    EXPECT_EQ(done.err, "") << number;
  }
}

TEST(EndSignals, AChildEndsWithTheProgram) {
  const auto ends = [](bool registered) {
    return testing::in_child([&] {
      signal(SIGTERM, [](int) { _exit(write(STDOUT_FILENO, "told", 4) == 4 ? 0 : 1); });
      const pid_t child = fork();
      if (child == 0) {
        poll(nullptr, 0, registered ? 10'000 : 100);
        _exit(0);
      }
      exit_on_signals();
      end_child_on_signals(child);
      if (!registered) end_child_on_signals(0);
      raise(SIGINT);
      return 7;
    });
  };
  EXPECT_EQ(ends(true).out, "told");
  EXPECT_EQ(ends(false).out, "");
  EXPECT_EQ(ends(true).status(), 130);
}

TEST(EndSignals, AStalledReaderDoesNotDelayTheEnd) {
  const auto done = testing::in_child([] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK) != 0) return 1;
    const std::string bytes(4096, 'x');
    while (write(ends[1], bytes.data(), bytes.size()) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
    exit_on_signals();
    raise(SIGTERM);
    return 7;
  });
  EXPECT_EQ(done.status(), 130);
}

TEST(EndSignals, ArePendingUntilTheyAreTaken) {
  std::vector<int> numbers{SIGCHLD, SIGQUIT, SIGUSR1, SIGUSR2,   SIGALRM,      SIGVTALRM, SIGPROF,
                           SIGPOLL, SIGPWR,  SIGXCPU, SIGSTKFLT, SIGRTMIN + 1, SIGRTMAX};
  numbers.insert(numbers.end(), kEndSignals.begin(), kEndSignals.end());
  testing::expect_in_child([&] {
    const EndSignals signals;
    EXPECT_EQ(fcntl(signals.fd(), F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(signals.take(), std::nullopt);
    for (const int number : numbers) {
      raise(number);
      pollfd ready{signals.fd(), POLLIN, 0};
      EXPECT_EQ(poll(&ready, 1, 0), 1) << number;
      EXPECT_EQ(signals.take(), number);
      EXPECT_EQ(signals.take(), std::nullopt) << number;
    }
    // Faults, and SIGRTMIN, which is the timer's of a writer.
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGXFSZ, SIGRTMIN})
      EXPECT_FALSE(is_blocked(number)) << number;
  });
}

TEST(EndSignals, IgnoredSignalsAreTakenOnlyIfTheyRequestTheEnd) {
  testing::expect_in_child([] {
    for (const int number : {SIGUSR1, SIGXCPU, SIGRTMAX, SIGHUP}) signal(number, SIG_IGN);
    const EndSignals signals;
    for (const int number : {SIGUSR1, SIGXCPU, SIGRTMAX}) {
      raise(number);
      EXPECT_EQ(signals.take(), std::nullopt) << number;
    }
    raise(SIGHUP);
    EXPECT_EQ(signals.take(), SIGHUP);
  });
}

TEST(EndSignals, HandlersAndMaskAreRestored) {
  testing::expect_in_child([] {
    block_signal(SIGUSR2);
    signal(SIGCHLD, SIG_IGN);
    {
      const EndSignals signals;
      EXPECT_EQ(handler_of(SIGPIPE), SIG_IGN);
      EXPECT_EQ(handler_of(SIGXFSZ), SIG_IGN);
      EXPECT_EQ(handler_of(SIGCHLD), SIG_DFL);
      EXPECT_TRUE(is_blocked(SIGINT));
    }
    EXPECT_EQ(handler_of(SIGPIPE), SIG_DFL);
    EXPECT_EQ(handler_of(SIGCHLD), SIG_IGN);
    EXPECT_FALSE(is_blocked(SIGINT));
    EXPECT_TRUE(is_blocked(SIGUSR2));
  });
}

TEST(EndSignals, AWorkerHasTheOriginalHandlersAndEndsAtRequestsToEnd) {
  testing::expect_in_child([] {
    exit_on_signals();
    signal(SIGRTMIN, [](int) {});
    signal(SIGCHLD, SIG_IGN);
    block_signal(SIGUSR2);
    const EndSignals signals;
    signals.restore_in_child();
    for (const int number : kEndSignals) EXPECT_EQ(handler_of(number), SIG_DFL) << number;
    EXPECT_EQ(handler_of(SIGRTMIN), SIG_DFL);
    EXPECT_EQ(handler_of(SIGPIPE), SIG_DFL);
    EXPECT_EQ(handler_of(SIGCHLD), SIG_IGN);
    EXPECT_FALSE(is_blocked(SIGINT));
    EXPECT_TRUE(is_blocked(SIGUSR2));
  });
}

TEST(EndSignals, ABrokenPipeEndsTheProgramUnlessItsSignalIsIgnored) {
  const auto ends = [](auto prepare) {
    return testing::in_child([&] {
             prepare();
             const EndSignals signals;
             signals.end_by_broken_pipe();
             return 7;
           })
        .status();
  };
  EXPECT_EQ(ends([] {}), 128 + SIGPIPE);
  EXPECT_EQ(ends([] { block_signal(SIGPIPE); }), 128 + SIGPIPE);
  EXPECT_EQ(ends([] { signal(SIGPIPE, SIG_IGN); }), 7);
}

TEST(EndSignals, AreNotBlockedIfTheyCannotBeTaken) {
  testing::expect_in_child([] {
    testing::fail_call(SYS_signalfd4, EMFILE);
    testing::expect_error(ErrorKind::kRun, {"cannot start: signalfd: Too many open files"},
                          [] { EndSignals(); });
    EXPECT_FALSE(is_blocked(SIGINT));
  });
}

}  // namespace
}  // namespace tmeter::core
