#include "core/plugin_host/library.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOST_DLL_USE_STD_FS
#include <link.h>

#include <algorithm>
#include <array>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/adopt.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "plugin " + path + " " + why);
}

/// Libraries stay open for the life of the process: code of theirs may be referenced anywhere.
std::deque<boost::dll::shared_library>& open_libraries() {
  static auto* libraries = new std::deque<boost::dll::shared_library>();
  return *libraries;
}

/// What Boost.DLL would call no shared library, or wait for (a pipe).
void require_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    refuse(path, errno == ENOENT ? "does not exist"
                                 : std::string("cannot be read: ") + std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode))
    refuse(path, "is a folder; give the .tmeter file inside it, or the folder as --plugin-path");
  if (!S_ISREG(info.st_mode)) refuse(path, "is no regular file");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  close(fd);
}

void require_entry_symbol(const std::string& path) {
  std::vector<std::string> symbols;
  try {
    boost::dll::library_info info(path);
    symbols = info.symbols();
  } catch (const std::exception&) {
    refuse(path, "is not a shared library (or not one for this machine)");
  }
  if (std::find(symbols.begin(), symbols.end(), TMETER_ENTRY_SYMBOL) == symbols.end()) {
    refuse(path, "does not export " TMETER_ENTRY_SYMBOL
                 ": it is no tmeter plugin, or one for another major version");
  }
}

PluginLibrary checked(const std::string& path, const tmeter_plugin_entry_v1* address) {
  const auto what = "plugin " + path + ": its ";
  if (!address) refuse(path, "has no entry");
  PluginLibrary library{address, {}, {}};
  auto& e = library.entry;
  e = adopted(address, TMETER_SIZE_1_0(tmeter_plugin_entry_v1), what + "tmeter_plugin_entry_v1");
  require_minor(path, e.abi_minor_required);
  if (!e.init || !e.deinit || !e.get_capability || !e.info) refuse(path, "has a malformed entry");
  library.info = adopted(e.info, TMETER_SIZE_1_0(tmeter_plugin_info), what + "tmeter_plugin_info");
  if (!library.info.id.len || !library.info.name.len) refuse(path, "has a malformed entry");
  return library;
}

bool is_system_folder(const std::string& folder) {
  constexpr std::array<std::string_view, 4> kSystem{"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
  return std::any_of(kSystem.begin(), kSystem.end(), [&](std::string_view s) {
    return folder == s || folder.starts_with(std::string(s) + "/");
  });
}

int add_library_folder(dl_phdr_info* info, size_t, void* out) {
  const std::filesystem::path path(info->dlpi_name);
  if (path.is_absolute() && !is_system_folder(path.parent_path().string()))
    static_cast<std::set<std::string>*>(out)->insert(
        path.parent_path().lexically_normal().string());
  return 0;
}

}  // namespace

std::vector<std::string> loaded_library_folders() {
  std::set<std::string> folders;
  dl_iterate_phdr(add_library_folder, &folders);
  return {folders.begin(), folders.end()};
}

void require_minor(const std::string& path, uint32_t minor) {
  if (minor <= TMETER_ABI_MINOR) return;
  refuse(path, "needs plugin ABI 1." + std::to_string(minor) + ", this tmeter has 1." +
                   std::to_string(TMETER_ABI_MINOR) + "; use a newer tmeter");
}

PluginLibrary open_library(const std::string& path, bool known) {
  require_file(path);
  if (!known) require_entry_symbol(path);
  try {
    namespace dll = boost::dll;
    // One that is known has been bound as a whole before. LibTorch has 30,000 functions to bind, of
    // which a run needs a few hundred; what our plugin needs of it is bound at once (its -z now).
    const auto binding = known ? dll::load_mode::rtld_lazy : dll::load_mode::rtld_now;
    auto& library = open_libraries().emplace_back(path, binding | dll::load_mode::rtld_local);
    const auto entry = library.get<const tmeter_plugin_entry_v1*()>(TMETER_ENTRY_SYMBOL);
    return checked(path, entry());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    refuse(path, std::string("cannot be opened: ") + printable(e.what(), 600));
  }
}

}  // namespace tmeter::core
