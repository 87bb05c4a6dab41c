#include "apps/tmeter/run_rights.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/plugin_host/library_rights.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

/// A manifest's folder; "$ORIGIN" is the library's folder, as for the dynamic linker.
std::string resolved(const std::string& folder, const std::string& library) {
  constexpr std::string_view kOrigin = "$ORIGIN/";
  if (!folder.starts_with(kOrigin)) return folder;
  const auto path = fs::path(library).parent_path() / folder.substr(kOrigin.size());
  return path.lexically_normal().string();
}

/// The targets of links in a folder of /sys, because a sensor is below its device.
void add_targets_in(const char* folder, std::vector<std::string>& out) {
  std::error_code failed;
  for (const auto& link : fs::directory_iterator(folder, failed)) {
    const auto target = fs::canonical(link.path(), failed);
    if (!failed) out.push_back(target.string());
  }
}

}  // namespace

Rights run_rights(const Settings& settings, const std::vector<std::string>& files,
                  const Registry& registry) {
  Rights rights;
  auto& read = rights.read = paths_of_libraries();
  for (const auto& file : files) add_model(file, read);
  for (const auto& folder : plugin_folders(settings)) read.push_back(folder);
  read.push_back(data_folder());
  read.push_back(library_folder());
  if (!settings.hardware.empty()) read.push_back(settings.hardware);
  for (const auto& p : registry.plugins()) {
    if (p->file) add_folders_of(*p->file, read);  // independent of the manifest
    if (p->file || p->library.empty()) continue;
    if (p->is_link) add_folder_of(p->library, read);  // other libraries are in a folder of plugins
    for (const auto& folder : p->manifest.library_folders)
      read.push_back(resolved(folder, p->library));
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return rights;
}

void add_rights_of_runs(Rights& rights, RunMode running, const std::string& device) {
  if (running == RunMode::kNo) return;
  rights.inference = true;
  for (const char* path :
       {"/proc/stat", "/proc/vmstat", "/proc/loadavg", "/proc/diskstats", "/proc/net",
        "/sys/class/powercap", "/sys/devices/virtual/powercap", "/sys/class/hwmon",
        "/sys/class/thermal", "/sys/devices/virtual/thermal", "/sys/bus/event_source"})
    rights.read.emplace_back(path);
  for (const char* folder :
       {"/sys/class/hwmon", "/sys/class/powercap", "/sys/bus/event_source/devices"})
    add_targets_in(folder, rights.read);
  rights.counters = running == RunMode::kProfile;
  if (device == "cpu") return;
  rights.read.emplace_back("/proc/driver/nvidia");
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"})
    rights.devices.emplace_back(path);
  constexpr int kMaxDevices = 16;
  for (int i = 0; i < kMaxDevices; ++i) rights.devices.push_back("/dev/nvidia" + std::to_string(i));
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
