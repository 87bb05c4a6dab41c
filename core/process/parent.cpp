#include "core/process/parent.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tmeter::core {

void end_with_parent() {
  const char* given = std::getenv("TMETER_PARENT");
  if (!given) return;
  const std::string_view text = given;
  pid_t parent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parent);
  if (error != std::errc() || end != text.data() + text.size() || parent <= 0) return;
  // If another process is in between, such as a script that does not exec, its end does not matter.
  if (getppid() == parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have died before the line above.
  if (getppid() != parent && kill(parent, 0) != 0 && errno == ESRCH) raise(SIGTERM);
}

}  // namespace tmeter::core
