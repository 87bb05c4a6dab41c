#include "core/plugin_host/sanitized.hpp"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/mapped_file.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

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
    if (text_of(file).find(name) == std::string_view::npos || dlsym(RTLD_DEFAULT, s.symbol)) continue;
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
