// `tmeter fleet …`: replaces this program by the Python package.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"

namespace tmeter::app {
namespace {
using core::Error, core::ErrorKind;
namespace fs = std::filesystem;

/// Ignores a package in the current folder, which is not the installed one. Ctrl-C ends a start
/// without a traceback.
constexpr const char* kStart = R"(import sys
sys.path[:] = [p for p in sys.path if p]
import signal
if signal.getsignal(signal.SIGINT) != signal.SIG_IGN: signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
try:
    from tmeter.fleet.command import fleet_command
except ImportError as error:
    if not (error.name or "").startswith("tmeter"): raise
    print(f"tmeter: `tmeter fleet` needs tmeter's Python package, which {sys.executable} lacks: "
          "pip install 'tmeter[fleet]'", file=sys.stderr)
    sys.exit(2)
sys.exit(fleet_command(sys.argv[1:]))
)";

/// The Python beside the program, as in an environment with the wheel, or the one in PATH.
std::string python_beside(const fs::path& program) {
  const auto path = program.parent_path() / "python3";
  return access(path.c_str(), X_OK) == 0 ? path.string() : "python3";
}

}  // namespace

int fleet_command(const Arguments& arguments) {
  std::error_code failed;
  const auto self = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) setenv("TMETER_PROGRAM", self.c_str(), 0);
  auto python = python_beside(self);
  std::string option = "-c", code = kStart;
  std::vector<char*> words{python.data(), option.data(), code.data()};
  auto given = arguments;
  for (auto& a : given) words.push_back(a.data());
  words.push_back(nullptr);
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupts, nullptr);  // kStart handles it once it can
  execvp(python.c_str(), words.data());
  throw Error(ErrorKind::kUsage,
              "`tmeter fleet` needs Python 3 with tmeter's package: pip install 'tmeter[fleet]'");
}

}  // namespace tmeter::app
