#include "core/process/descendants.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

pid_t started() {
  const pid_t child = fork();
  if (child == 0)
    while (true) pause();
  return child;
}

bool is_gone(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

/// A plugin's program may start others and end before them.
TEST(Descendants, EndsChildrenAndTheOrphansTheyLeave) {
  const auto done = testing::in_child([] {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return 1;
    const Descendants descendants;
    const pid_t child = started(), parent = fork();
    if (parent == 0) {
      const pid_t orphan = started();
      _exit(write(ends[1], &orphan, sizeof orphan) == sizeof orphan ? 0 : 1);
    }
    pid_t orphan = 0;
    if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) return 2;
    if (is_gone(child) || is_gone(orphan)) return 3;
    descendants.end();
    for (const pid_t process : {child, parent, orphan})
      if (!is_gone(process)) return 4;
    return 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Descendants, LeavesEarlierChildrenAlone) {
  const auto done = testing::in_child([] {
    const pid_t before = started();
    { const Descendants descendants; }
    const bool gone = is_gone(before);
    kill(before, SIGKILL);
    return gone ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0);
}

}  // namespace
}  // namespace tmeter::core
