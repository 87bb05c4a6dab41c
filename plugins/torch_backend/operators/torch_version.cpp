#include "operators/torch_version.hpp"

#include <dlfcn.h>
#include <torch/version.h>

#include <string>

namespace tmeter::torch_backend {
namespace {

std::string version_text(unsigned major, unsigned minor) {
  return "torch " + std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

void require_built_torch() {
  using Version = uint64_t (*)();
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
  if (!version) return;
  const auto found = version() >> 48;
  constexpr uint64_t kBuiltWith = TORCH_VERSION_MAJOR << 8 | TORCH_VERSION_MINOR;
  if (found == kBuiltWith) return;
  throw Error(TMETER_CANNOT_RUN, "it is built for " +
                                     version_text(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR) +
                                     " and finds " + version_text(found >> 8, found & 0xff));
}

void note_untried_version(const Call& call) {
  const auto note = untried_version(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
  if (!note.empty()) call.warn(note);
}

}  // namespace tmeter::torch_backend
