#include "core/process/end_signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

constexpr int kEndRequests[] = {SIGINT, SIGTERM, SIGHUP};
/// Other signals that end a process by default. Without fault signals, and without SIGPIPE and
/// SIGXFSZ: there the write fails instead.
constexpr int kOtherEndSignals[] = {SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,   SIGVTALRM,
                                    SIGPROF, SIGPOLL, SIGPWR,  SIGSTKFLT, SIGXCPU};

volatile sig_atomic_t child_to_end = 0;

void end_now(int) {
  if (child_to_end > 0) kill(static_cast<pid_t>(child_to_end), SIGTERM);
  constexpr std::string_view kWords = "tmeter: interrupted; nothing written\n";
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  const bool is_read = poll(&error, 1, 0) == 1;
  constexpr int kStatus = static_cast<int>(ErrorKind::kInterrupted);
  if (is_read && write(STDERR_FILENO, kWords.data(), kWords.size()) < 0) _exit(kStatus);
  _exit(kStatus);
}

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  const auto add_unless_ignored = [&](int number) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, number);
  };
  for (const int s : kEndRequests) sigaddset(&set, s);
  for (const int s : kOtherEndSignals) add_unless_ignored(s);
  for (int s = SIGRTMIN + 1; s <= SIGRTMAX; ++s) add_unless_ignored(s);
  sigaddset(&set, SIGCHLD);
  return set;
}

struct sigaction set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  sigaction(number, &action, &before);
  return before;
}

}  // namespace

void exit_on_signals() {
  for (const int s : kEndRequests) {
    const auto before = set_handler(s, end_now);
    if (before.sa_handler == SIG_IGN) sigaction(s, &before, nullptr);  // started with nohup
  }
}

void end_child_on_signals(pid_t child) { child_to_end = child; }

EndSignals::EndSignals() {
  const auto set = taken_signals();
  sigprocmask(SIG_BLOCK, &set, &before_);
  fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  const int failed = errno;
  sigpipe_before_ = set_handler(SIGPIPE, SIG_IGN);
  sigchld_before_ = set_handler(SIGCHLD, SIG_DFL);  // ignored, children would leave no status
  set_handler(SIGXFSZ, SIG_IGN);
  if (fd_.get() >= 0) return;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  throw Error(ErrorKind::kRun, std::string("cannot start: signalfd: ") + std::strerror(failed));
}

EndSignals::~EndSignals() {
  sigaction(SIGPIPE, &sigpipe_before_, nullptr);
  sigaction(SIGCHLD, &sigchld_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> EndSignals::take() const {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void EndSignals::restore_in_child() const {
  for (const int s : kEndRequests) set_handler(s, SIG_DFL);
  set_handler(SIGRTMIN, SIG_DFL);
  sigaction(SIGPIPE, &sigpipe_before_, nullptr);
  sigaction(SIGCHLD, &sigchld_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void EndSignals::end_by_broken_pipe() const {
  if (sigpipe_before_.sa_handler != SIG_DFL) return;
  set_handler(SIGPIPE, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(SIGPIPE);
}

}  // namespace tmeter::core
