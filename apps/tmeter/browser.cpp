#include "apps/tmeter/browser.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "apps/tmeter/measured_hardware.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

bool is_page(const ReportTarget& t) {
  return !t.file.empty() && (t.format == "html" || t.format == "diff-html" ||
                             (t.format.empty() && t.file.ends_with(".html")));
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

/// Replaces this process by the program. Returns only if it cannot be started.
void become(const char* program, const std::string& file) {
  const int nowhere = open("/dev/null", O_RDWR);
  for (int fd = 0; nowhere >= 0 && fd < 3; ++fd) dup2(nowhere, fd);
  execlp(program, program, file.c_str(), nullptr);
}

/// Whether the program was started. tmeter does not wait for its end.
bool start(const char* program, const std::string& file) {
  int failed[2];
  if (pipe2(failed, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      become(program, file);
      [[maybe_unused]] const auto written = write(failed[1], "!", 1);
    }
    _exit(0);
  }
  close(failed[1]);
  char problem = 0;
  ssize_t n = -1;
  if (child > 0) {
    waitpid(child, nullptr, 0);
    do n = read(failed[0], &problem, 1);
    while (n < 0 && errno == EINTR);
  }
  close(failed[0]);
  return n == 0;
}

}  // namespace

void add_page(std::vector<ReportTarget>& targets) {
  for (const auto& t : targets)
    if (is_page(t)) return;
  const auto cache = fs::path(measured_hardware_file()).parent_path();
  if (cache.empty())
    throw Error(ErrorKind::kUsage,
                "--open: neither XDG_CACHE_HOME nor HOME is set; name a file, as in --report "
                "html=report.html");
  std::error_code failed;
  fs::create_directories(cache, failed);
  fs::permissions(cache, fs::perms::owner_all, failed);
  targets.push_back({"html", (cache / "report.html").string()});
}

std::string page_of(const std::vector<ReportTarget>& targets) {
  for (const auto& t : targets)
    if (is_page(t)) return t.file;
  return {};
}

void open_page(const std::string& file, bool quiet) {
  const auto path = fs::absolute(file).string();
  const bool display = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  const char* program = is_set("BROWSER") ? std::getenv("BROWSER") : display ? "xdg-open" : nullptr;
  Terminal terminal(false);
  if (!program)
    terminal.message("note: there is no display for a browser; the page is " + printable(path));
  else if (!start(program, path))
    terminal.message("note: " + printable(program) + " cannot be started; the page is " +
                     printable(path));
  else if (!quiet)
    terminal.message("the page is " + printable(path));
}

}  // namespace tmeter::app
