// libFuzzer's entry: one program per target, TMETER_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const target = tmeter::fuzz::find_target(TMETER_FUZZ_TARGET);
  tmeter::fuzz::run(*target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
