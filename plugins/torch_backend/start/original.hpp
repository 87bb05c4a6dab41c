// For what stands in for functions of LibTorch: the functions themselves, and whether to stand in.
#pragma once
#include <dlfcn.h>
#include <torch/version.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tmeter::torch_backend::start {

/// LibTorch's own function of this (mangled) name. There is one: LibTorch called it.
template <class F>
F* original(const char* symbol) {
  if (void* const found = dlsym(RTLD_NEXT, symbol)) return reinterpret_cast<F*>(found);
  std::fprintf(stderr, "tmeter: LibTorch has no %s\n", symbol);
  std::abort();
}

/// Whether to stand in: TMETER_TORCH_START does not say otherwise, and this is the LibTorch whose
/// headers were compiled. With another one everything is passed on as it comes, without a look at
/// it; the plugin says later what is wrong (plugin.cpp).
inline bool wanted() {
  static const bool wanted = [] {
    const char* const how = std::getenv("TMETER_TORCH_START");
    if (how && std::string_view(how) == "full") return false;
    const auto version =
        reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
    return version && version() >> 48 == (TORCH_VERSION_MAJOR << 8 | TORCH_VERSION_MINOR);
  }();
  return wanted;
}

}  // namespace tmeter::torch_backend::start
