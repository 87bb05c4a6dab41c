#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <memory>
#include <stdexcept>

namespace {

/// `int64_t hwy::SupportedTargets()` of the library; its functions have C++ names.
int64_t library_says() {
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libhwy.so.1", RTLD_NOW), dlclose);
  if (!library) throw std::runtime_error(dlerror());
  using Function = int64_t();
  auto* const function =
      reinterpret_cast<Function*>(dlsym(library.get(), "_ZN3hwy16SupportedTargetsEv"));
  if (!function) throw std::runtime_error(dlerror());
  return function();
}

/// Our kernels are compiled for these; newer targets have no kernel.
TEST(HighwayTargets, AreThoseOfItsOwnLibrary) {
  const int64_t targets = hwy::SupportedTargets();
  EXPECT_EQ(targets & HWY_TARGETS, library_says() & HWY_TARGETS);
  EXPECT_NE(targets & HWY_TARGETS, 0) << "the compiler's baseline is always present";
}

TEST(HighwayTargets, TheBestIsChosenAtTheFirstCall) {
  auto& chosen = hwy::GetChosenTarget();
  chosen.Update(hwy::SupportedTargets());
  const size_t best = chosen.GetIndex();
  chosen.Update(HWY_ENABLED_BASELINE);
  EXPECT_LE(best, chosen.GetIndex()) << "a lower index is a better target";
  EXPECT_EQ(&chosen, &hwy::GetChosenTarget());
  chosen.DeInit();
  EXPECT_FALSE(chosen.IsInitialized());
}

}  // namespace
