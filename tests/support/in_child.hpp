// Runs a function in a child process: ends, permanent limits and writes to standard output stay in
// it.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace tmeter::testing {

/// Sanitizers map so much memory that limits on it fail.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsLimited = false;
#else
constexpr bool kMemoryIsLimited = true;
#endif

/// The thread sanitizer starts a thread with the first one, and maps all memory.
#if defined(__SANITIZE_THREAD__)
constexpr bool kProcessIsAlone = false;
#else
constexpr bool kProcessIsAlone = true;
#endif

struct Ended {
  int wait_status = 0;
  std::string out, err;

  /// The exit status; after a signal 128 plus its number, as in a shell.
  int status() const {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  }
};

/// The child exits with the result of `f`, without its parent's destructors, and is ended after
/// `seconds` if it hangs.
inline Ended in_child(const std::function<int()>& f, unsigned seconds = 20) {
  int out[2], err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(seconds);
    for (const int s : {SIGINT, SIGQUIT}) signal(s, SIG_DFL);  // ignored where tests run with `&`
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int fd : {out[0], out[1], err[0], err[1]}) close(fd);
    _exit(f());
  }
  EXPECT_GT(child, 0);
  Ended ended;
  std::array<pollfd, 2> fds{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  for (const int fd : {out[1], err[1]}) close(fd);
  std::vector<char> buffer(1 << 16);
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds.data(), 2, static_cast<int>(seconds + 5) * 1000) <= 0) break;
    for (auto& p : fds) {
      const auto n = p.fd >= 0 && p.revents ? read(p.fd, buffer.data(), buffer.size()) : -1;
      if (n > 0) (p.fd == out[0] ? ended.out : ended.err).append(buffer.data(), size_t(n));
      if (n == 0) p.fd = -1;
    }
  }
  for (const int fd : {out[0], err[0]}) close(fd);
  EXPECT_EQ(waitpid(child, &ended.wait_status, 0), child);
  return ended;
}

/// Runs expectations in a child process; their failures are failures of the test.
inline void expect_in_child(const std::function<void()>& f) {
  const auto done = in_child([&] {
    f();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
}

}  // namespace tmeter::testing
