#include "core/plugin_host/library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <deque>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/mapped_file.hpp"
#include "core/base/text.hpp"
#include "core/config/linked_libraries.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/process/limits.hpp"
#include "core/process/sandbox.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "plugin " + path + " " + why);
}

/// Libraries stay open for the life of the process, because other code may refer to them.
std::deque<boost::dll::shared_library>& open_libraries() {
  static auto* libraries = new std::deque<boost::dll::shared_library>();
  return *libraries;
}

void require_entry_symbol(const std::string& path, const std::string& file) {
  std::vector<std::string> symbols;
  try {
    boost::dll::library_info info(file);
    symbols = info.symbols();
  } catch (const std::exception&) {
    refuse(path, "is not a shared library (or not one for this machine)");
  }
  if (std::find(symbols.begin(), symbols.end(), TMETER_ENTRY_SYMBOL) == symbols.end()) {
    refuse(path, "does not export " TMETER_ENTRY_SYMBOL
                 ": it is not a tmeter plugin, or one for another major version");
  }
}

PluginLibrary checked(const std::string& path, const tmeter_plugin_entry_v1* address) {
  const auto what = "plugin " + path + ": its ";
  if (!address) refuse(path, "has no entry");
  PluginLibrary library{address, {}, {}, std::make_shared<TextStore>()};
  auto& e = library.entry;
  e = adopted(address, TMETER_SIZE_1_0(tmeter_plugin_entry_v1), what + "tmeter_plugin_entry_v1");
  require_minor(path, e.abi_minor_required);
  if (!e.init || !e.deinit || !e.get_capability || !e.info) refuse(path, "has a malformed entry");
  library.info = adopted(e.info, TMETER_SIZE_1_0(tmeter_plugin_info), what + "tmeter_plugin_info");
  auto& info = library.info;
  if (!info.id.len || !info.name.len) refuse(path, "has a malformed entry");
  library.texts->keep(
      {&info.id, &info.name, &info.version, &info.description, &info.needs, &info.rights});
  return library;
}

link_map* map_of(void* handle) {
  link_map* map = nullptr;
  return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

/// dlopen, whose header declares that it throws nothing: the compiler then leaves out the handlers
/// around it. Initializers of a library may throw, such as std::bad_alloc at --max-memory. A call
/// through this pointer keeps the handlers.
void* (*volatile throwing_dlopen)(const char*, int) = dlopen;

/// Opens a library in advance, so that Boost.DLL's dlopen runs no initializer.
class Opened {
 public:
  Opened(const std::string& name, int mode) : handle_(throwing_dlopen(name.c_str(), mode)) {}
  ~Opened() {
    if (handle_) dlclose(handle_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  void* handle_;  // null: Boost.DLL reports the error
};

/// First opens the libraries that a plugin needs from its own folder ("$ORIGIN"), because the
/// plugin is opened by descriptor and "$ORIGIN" would be another folder. During its lifetime, the
/// dynamic linker identifies them by the names under which they are needed.
class LibrariesBeside {
 public:
  explicit LibrariesBeside(const PinnedLibrary& file)
      : libraries_(linked_libraries(file.descriptor(), file.folder())) {
    for (auto& needed : libraries_) {
      if (!needed.direct || !needed.beside) continue;
      // Errors are ignored here: opening the plugin reports them.
      auto* map = map_of(throwing_dlopen(needed.path.c_str(), RTLD_LAZY | RTLD_LOCAL));
      if (!map) continue;
      named_.emplace_back(map, map->l_name);
      map->l_name = needed.path.data() + needed.path.rfind('/') + 1;
    }
  }
  ~LibrariesBeside() {
    for (auto at = named_.rbegin(); at != named_.rend(); ++at) at->first->l_name = at->second;
  }
  LibrariesBeside(const LibrariesBeside&) = delete;
  LibrariesBeside& operator=(const LibrariesBeside&) = delete;

 private:
  std::vector<LinkedLibrary> libraries_;
  std::vector<std::pair<link_map*, char*>> named_;
};

/// Shows dladdr, dl_iterate_phdr and debuggers the library's path instead of its descriptor.
void name_library(void* handle, const std::string& path) {
  if (auto* map = map_of(handle)) map->l_name = strdup(path.c_str());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

struct Sanitizer {
  const char* symbol;  // imported by every library built with this sanitizer
  std::string_view name, runtime;
};
constexpr std::array<Sanitizer, 3> kSanitizers{{
    {"__asan_init", "AddressSanitizer", "libasan.so"},
    {"__tsan_init", "ThreadSanitizer", "libtsan.so"},
    {"__msan_init", "MemorySanitizer", ""},
}};

/// The library's bytes, which include the names of imported symbols.
std::string_view text_of(const std::optional<MappedFile>& file) {
  if (!file) return {};
  const auto bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void require_minor(const std::string& path, uint32_t minor) {
  if (minor <= TMETER_ABI_MINOR) return;
  refuse(path, "needs plugin ABI 1." + std::to_string(minor) + ", this tmeter has 1." +
                   std::to_string(TMETER_ABI_MINOR) + "; use a newer tmeter");
}

/// The dynamic linker names the segment that it cannot map, not the limit behind it.
bool is_memory_failure(const std::exception& e) {
  const std::string_view text = e.what();
  const bool is_mapping = text.find("failed to map segment") != text.npos ||
                          text.find("annot allocate memory") != text.npos ||
                          text.find("annot create TLS") != text.npos;
  return memory_limit() > 0 && (is_mapping || dynamic_cast<const std::bad_alloc*>(&e) != nullptr);
}

PluginLibrary open_library(const LibraryToOpen& request) {
  const auto& [path, file, has_manifest] = request;
  if (!in_sandbox())
    throw Error(ErrorKind::kInternal, "plugin " + path + " would be opened outside the sandbox");
  const auto name = file ? file->path_by_descriptor() : path;
  if (!has_manifest) require_entry_symbol(path, name);
  try {
    namespace dll = boost::dll;
    // A known library has been bound completely before, so lazy binding is safe. LibTorch has
    // 30,000 functions to bind; a run needs a few hundred. Our plugin is linked with -z
    // now, so its own references are bound at once.
    const auto binding = has_manifest ? dll::load_mode::rtld_lazy : dll::load_mode::rtld_now;
    std::optional<LibrariesBeside> beside;
    if (file) beside.emplace(*file);
    const Opened opened(name, (has_manifest ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
    auto& library = open_libraries().emplace_back(name, binding | dll::load_mode::rtld_local);
    if (file) file->require_unchanged();
    if (file) name_library(library.native(), path);
    const auto entry = library.get<const tmeter_plugin_entry_v1*()>(TMETER_ENTRY_SYMBOL);
    return checked(path, entry());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    if (is_memory_failure(e))
      refuse(path, "cannot be opened: it takes more memory than --max-memory allows (" +
                       bytes_text(memory_limit()) + "); allow more");
    refuse(path, "cannot be opened: " + printable(replaced(e.what(), name, path), 600));
  }
}

void require_sanitizer(const std::string& library) {
  std::optional<MappedFile> file;
  try {
    file.emplace(library);
  } catch (const Error&) {
    return;
  }
  for (const auto& s : kSanitizers) {
    // Includes the terminating zeros, because the plain name is also in this file's own string
    // table.
    const std::string name = std::string(1, '\0') + s.symbol + '\0';
    if (text_of(file).find(name) == std::string_view::npos || dlsym(RTLD_DEFAULT, s.symbol))
      continue;
    const auto what = printable(library) + " is built with " + std::string(s.name) +
                      ", whose runtime has to be in the process from its start: ";
    throw Error(ErrorKind::kPlugin,
                s.runtime.empty()
                    ? what + "tmeter cannot have it"
                    : what + "LD_PRELOAD=$(c++ -print-file-name=" + std::string(s.runtime) +
                          ") tmeter …; docs/install-sdk.md, \"With sanitizers\"");
  }
}

}  // namespace tmeter::core
