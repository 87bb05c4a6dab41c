#include "apps/tmeter/run_rights.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

/// Where the dynamic linker, LibTorch and OpenMP look.
std::vector<std::string> system_paths() {
  std::vector<std::string> paths{"/lib",
                                 "/lib64",
                                 "/usr/lib",
                                 "/usr/lib64",
                                 "/usr/share/zoneinfo",
                                 "/etc/ld.so.cache",
                                 "/etc/localtime",
                                 "/dev/null",
                                 "/dev/zero",
                                 "/dev/urandom",
                                 "/proc/cpuinfo",
                                 "/proc/meminfo",
                                 "/proc/sys/vm",
                                 "/sys/devices/system",
                                 "/sys/kernel/mm"};
  paths.push_back("/proc/" + std::to_string(getpid()));
  return paths;
}

/// The folder of a file as it is named and, where that is a link, of the file itself; the file
/// alone where the folder is the whole machine.
void add_folder_of(const std::string& file, std::vector<std::string>& out) {
  std::error_code failed;
  const auto named = fs::absolute(file, failed);
  const auto real = failed ? named : fs::canonical(named, failed);
  for (const auto& path : {named, real}) {
    if (path.empty()) continue;
    const auto folder = path.parent_path();
    out.push_back(folder == folder.root_path() ? path.string() : folder.string());
  }
}

}  // namespace

Rights run_rights(const CommandLine& line, const Registry& registry) {
  Rights rights{system_paths()};
  auto& read = rights.read;
  add_folder_of(line.model, read);
  for (const auto& folder : plugin_folders(line.settings)) read.push_back(folder);
  read.push_back(data_folder());
  if (!line.settings.hardware.empty()) read.push_back(line.settings.hardware);
  for (const auto& p : registry.plugins()) {
    if (!p->library.empty()) add_folder_of(p->library, read);
    read.insert(read.end(), p->manifest.library_folders.begin(), p->manifest.library_folders.end());
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return rights;
}

std::vector<const Plugin*> declared_rights(Registry& registry,
                                           const std::vector<std::string>& names,
                                           const std::vector<ReportTarget>& targets) {
  std::vector<const Plugin*> chosen;
  for (const auto& name : names) chosen.push_back(&registry.get(name));
  for (const auto& t : targets) chosen.push_back(&find_writer(registry, t.format));
  std::erase_if(chosen, [](const Plugin* p) { return p->manifest.rights.empty(); });
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace tmeter::app
