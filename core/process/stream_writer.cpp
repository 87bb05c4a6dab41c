#include "core/process/stream_writer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Interrupts blocking system calls of this process every few milliseconds while it lives. It uses
/// a timer of its own, because tmeter may have inherited an alarm.
class WaitLimit {
 public:
  WaitLimit() {
    if (owner() != getpid()) create();
    set(kInterval);
  }
  ~WaitLimit() { set(0); }
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;
  static bool is_available() { return owner() == getpid(); }

 private:
  static constexpr long kInterval = 10'000'000;  // ns

  static timer_t& timer() {
    static timer_t id{};
    return id;
  }
  /// The process that owns the timer: a child does not inherit it.
  static pid_t& owner() {
    static pid_t process = 0;
    return process;
  }
  static void create() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGRTMIN, &action, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer()) == 0) owner() = getpid();
  }
  static void set(long nanoseconds) {
    const itimerspec every{{0, nanoseconds}, {0, nanoseconds}};
    if (is_available()) timer_settime(timer(), 0, &every, nullptr);
  }
};

bool may_block(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || S_ISREG(info.st_mode)) return false;
  return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

}  // namespace

std::string TerminalText::pass(std::string_view bytes, bool last) {
  incomplete_end_ += bytes;
  const size_t whole = last ? incomplete_end_.size() : complete_prefix_length(incomplete_end_);
  auto shown = terminal_safe(std::string_view(incomplete_end_).substr(0, whole));
  incomplete_end_.erase(0, whole);
  return shown;
}

StreamWriter::StreamWriter(int fd)
    : fd_(fd), is_terminal_(isatty(fd) == 1), may_wait_(may_block(fd)) {}

void StreamWriter::put(std::string bytes) {
  bytes_ = std::move(bytes);
  written_ = 0;
}

bool StreamWriter::flush() {
  constexpr size_t kWithoutTimer = 512;  // poll guarantees room for this much
  const auto write_some = [&](size_t most) {
    return ::write(fd_, bytes_.data() + written_, std::min(most, bytes_.size() - written_));
  };
  while (pending()) {
    ssize_t n = 0;
    if (may_wait_) {
      const WaitLimit limit;
      n = write_some(WaitLimit::is_available() ? bytes_.size() : kWithoutTimer);
    } else {
      n = write_some(bytes_.size());
    }
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    written_ += static_cast<size_t>(n);
    if (may_wait_) return true;  // the caller polls for room first
  }
  return true;
}

}  // namespace tmeter::core
