#include "core/process/descendants.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace tmeter::core {
namespace {

bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::vector<pid_t> children() {
  const auto self = std::to_string(getpid());
  std::ifstream in("/proc/" + self + "/task/" + self + "/children");
  std::vector<pid_t> out;
  for (pid_t child = 0; in >> child;) out.push_back(child);
  return out;
}

}  // namespace

Descendants::Descendants() {
  adopts_ = !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

void Descendants::end() const {
  constexpr int kMaxRounds = 300;  // of a millisecond
  for (int i = 0; adopts_ && has_children() && i < kMaxRounds; ++i) {
    if (i > 0) usleep(1000);
    for (const pid_t child : children()) kill(child, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

}  // namespace tmeter::core
