#include "core/process/sandbox.hpp"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

bool entered = false;

/// A process run by root keeps one capability, reading other users' files: the model may be theirs.
/// Landlock decides which files are readable.
std::string drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return "capabilities are as they were";
  const uint32_t kept = data[0].permitted & (uint32_t{1} << CAP_DAC_READ_SEARCH);
  data = {};
  data[0].permitted = data[0].effective = kept;
  if (syscall(SYS_capset, &header, data.data()) != 0)
    return std::string("capabilities are as they were: ") + std::strerror(errno);
  return {};
}

/// Holds without seccomp and Landlock, too: nothing can grow, no core is left behind.
void set_limits(const Rights& rights) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (rights.write) return;
  signal(SIGXFSZ, SIG_IGN);  // the write fails instead
  setrlimit(RLIMIT_FSIZE, &none);
}

}  // namespace

bool add_rights(Rights& rights, std::string_view declared) {
  for (auto word : split(declared, " ")) {
    const bool optional = word.ends_with('?');
    if (optional) word.pop_back();
    if (word == "network") {
      rights.network = true;
    } else if (word == "files") {
      rights.write = true;
    } else if (word == "processes") {
      rights.processes = true;
    } else if (word == "threads") {
      rights.threads = true;
    } else if (!optional) {
      return false;
    }
  }
  return true;
}

bool sandbox_requested() {
  static const bool requested = [] {
    const char* value = std::getenv("TMETER_SANDBOX");
    return !value || std::string_view(value) != "off";
  }();
  return requested;
}

bool in_sandbox() { return entered; }

std::vector<std::string> enter_sandbox(const Rights& rights) {
  entered = true;
  if (!sandbox_requested())
    return {"off (TMETER_SANDBOX=off): plugins and the file can do what you can"};
  std::vector<std::string> lines;
  set_limits(rights);
  const auto capabilities = drop_capabilities();
  if (!capabilities.empty()) lines.push_back(capabilities);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    lines.push_back(std::string("new privileges are possible: ") + std::strerror(errno));
  const auto files = limit_files(rights);
  lines.push_back(files.words);
  lines.push_back(limit_system_calls(rights));
  return lines;
}

}  // namespace tmeter::core
