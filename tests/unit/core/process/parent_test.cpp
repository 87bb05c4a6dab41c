// Programs whose parent has ended, and programs with a wrong variable.
#include "core/process/parent.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

/// The signal that a process with this variable gets when its parent ends; if a signal ended the
/// process itself, 128 plus its number.
int signal_at_the_end(const std::function<std::optional<std::string>()>& variable) {
  return testing::in_child([&] {
           prctl(PR_SET_PDEATHSIG, 0);
           const auto value = variable();
           if (value) setenv("TMETER_PARENT", value->c_str(), 1);
           if (!value) unsetenv("TMETER_PARENT");
           end_with_parent();
           int number = -1;
           return prctl(PR_GET_PDEATHSIG, &number) == 0 ? number : 99;
         })
      .status();
}

pid_t gone_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return child;
}

TEST(Parent, ItsEndEndsTheProgram) {
  EXPECT_EQ(signal_at_the_end([] { return std::to_string(getppid()); }), SIGTERM);
}

TEST(Parent, AParentThatHasEndedEndsTheProgramAtOnce) {
  EXPECT_EQ(signal_at_the_end([] { return std::to_string(gone_process()); }), 128 + SIGTERM);
}

TEST(Parent, OtherProcessesDoNotEndTheProgram) {
  EXPECT_EQ(signal_at_the_end([] { return "1"; }), 0);
  EXPECT_EQ(signal_at_the_end([] { return std::to_string(getpid()); }), 0);
  EXPECT_EQ(signal_at_the_end([] {  // a living process with a number beyond the parent's
              const pid_t child = fork();
              if (child == 0) _exit(0);
              return std::to_string(child);
            }),
            0);
}

TEST(Parent, InvalidProcessIdsAreIgnored) {
  EXPECT_EQ(signal_at_the_end([] { return std::nullopt; }), 0);
  for (const char* text : {"", "x", "0", "-1", "-999999", "99999999999999999999"})
    EXPECT_EQ(signal_at_the_end([&] { return text; }), 0) << text;
  EXPECT_EQ(signal_at_the_end([] { return std::to_string(gone_process()) + "x"; }), 0);
  EXPECT_EQ(signal_at_the_end([] { return " " + std::to_string(gone_process()); }), 0);
}

}  // namespace
}  // namespace tmeter::core
