// Interrupts waiting system calls.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace tmeter::testing {

/// While it exists, a signal interrupts the process's system calls every few milliseconds.
class Interrupted {
 public:
  Interrupted() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGALRM, &action, &before_);
    set(5'000);
  }
  ~Interrupted() {
    set(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Interrupted(const Interrupted&) = delete;
  Interrupted& operator=(const Interrupted&) = delete;

 private:
  static void set(suseconds_t microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  struct sigaction before_ {};
};

/// Reads `fd` to its end, but begins late: until then a writer of more bytes than a pipe holds must
/// wait.
class LateReader {
 public:
  explicit LateReader(int fd) : thread_([this, fd] { read_all(fd); }) {}
  std::string text() {
    thread_.join();
    return text_;
  }

 private:
  void read_all(int fd) {
    sigset_t all;  // the timers are the writer's
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    usleep(50'000);
    std::array<char, 65536> buffer;
    for (ssize_t n; (n = ::read(fd, buffer.data(), buffer.size())) > 0;)
      text_.append(buffer.data(), static_cast<size_t>(n));
  }
  std::string text_;
  std::thread thread_;
};

}  // namespace tmeter::testing
