// For what stands in for functions of LibTorch: the functions themselves, and whether to stand in.
#pragma once
#include <dlfcn.h>

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

/// What TMETER_TORCH_START says.
inline bool wanted() {
  static const bool wanted = [] {
    const char* const how = std::getenv("TMETER_TORCH_START");
    return !how || std::string_view(how) != "full";
  }();
  return wanted;
}

}  // namespace tmeter::torch_backend::start
