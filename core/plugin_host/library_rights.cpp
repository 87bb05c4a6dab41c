#include "core/plugin_host/library_rights.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/config/linked_libraries.hpp"
#include "core/plugin_host/folder_listing.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

/// The folders of LD_LIBRARY_PATH; relative and empty entries mean the current folder.
void add_linker_path(std::vector<std::string>& out) {
  const char* list = std::getenv("LD_LIBRARY_PATH");
  if (!list) return;
  for (auto& folder : split(list, ":;")) {
    if (folder.starts_with('/') && folder != "/") out.push_back(std::move(folder));
  }
}

/// The folder of an absolute path; the path itself below the root.
std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? path : path.substr(0, slash);
}

}  // namespace

std::vector<std::string> paths_of_libraries() {
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
  add_linker_path(paths);
  return paths;
}

void add_folder_of(const std::string& file, std::vector<std::string>& out) {
  std::error_code failed;
  const auto named = file.starts_with('/') ? file : fs::absolute(file, failed).string();
  if (named.empty()) return;
  out.push_back(folder_of(named));
  struct stat info {};
  if (lstat(named.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return;
  const auto real = fs::canonical(named, failed);
  if (!failed) out.push_back(folder_of(real.string()));
}

void add_model(const std::string& model, std::vector<std::string>& out) {
  std::error_code failed;
  if (!fs::is_directory(model, failed)) return add_folder_of(model, out);
  if (const auto real = fs::canonical(model, failed); !failed && real != real.root_path())
    out.push_back(real.string());
  if (auto blobs = blobs_of(model); !blobs.empty()) out.push_back(std::move(blobs));
}

void add_folders_of(const PinnedLibrary& library, std::vector<std::string>& out) {
  add_folder_of(library.path(), out);
  for (auto& folder : linked_folders(library.descriptor(), library.folder())) {
    if (folder != "/") out.push_back(std::move(folder));
  }
}

}  // namespace tmeter::core
