#include "apps/tmeter/child_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/process/end_signals.hpp"

namespace tmeter::app {
namespace {
using core::Descriptor;

constexpr size_t kMaxOutput = size_t{1} << 20;

std::string all_of(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    if (text.size() < kMaxOutput) text.append(buffer, static_cast<size_t>(n));
  }
}

int start(const std::vector<std::string>& arguments, bool silent, int output, pid_t& child) {
  std::vector<char*> pointers;
  for (const auto& a : arguments) pointers.push_back(const_cast<char*>(a.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int failed = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

}  // namespace

std::string ProgramEnd::words() const {
  if (!problem.empty()) return problem;
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

ProgramEnd run_program(const std::vector<std::string>& arguments, bool silent) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {{}, 0, std::strerror(errno)};
  Descriptor out(ends[0]), in(ends[1]);
  pid_t child = 0;
  const int failed = start(arguments, silent, in.get(), child);
  if (failed) return {{}, 0, std::strerror(failed)};
  in = Descriptor();
  ProgramEnd end;
  core::end_child_on_signals(child);
  end.output = all_of(out.get());
  while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
  }
  core::end_child_on_signals(0);
  const bool interrupted =
      (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGINT) ||
      (WIFEXITED(end.status) &&
       WEXITSTATUS(end.status) == static_cast<int>(core::ErrorKind::kInterrupted));
  if (interrupted) throw core::Error(core::ErrorKind::kInterrupted, "interrupted");
  return end;
}

}  // namespace tmeter::app
