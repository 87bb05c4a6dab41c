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

namespace tmeter::app {
namespace {
using namespace core;

constexpr size_t kMostOutput = size_t{64} << 20;

std::string all_of(int fd) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const auto n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    if (text.size() < kMostOutput) text.append(buffer, static_cast<size_t>(n));
  }
}

/// "ended with status 2", "was ended by signal 14"
std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildOutput run_child(const std::string& program, const std::vector<std::string>& arguments,
                      bool quiet) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {{}, std::strerror(errno)};
  Descriptor out(ends[0]), in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  if (quiet)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const auto& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return {{}, std::strerror(failed)};
  in = Descriptor();
  auto text = all_of(out.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Ctrl-C goes to the program, too.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
    throw Error(ErrorKind::kInterrupted, "interrupted");
  return {std::move(text), status == 0 ? std::string() : how_it_ended(status)};
}

}  // namespace tmeter::app
