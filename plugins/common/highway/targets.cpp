// The versions of a kernel that this processor can run. These two functions replace libhwy.so,
// whose headers need no others. That library calibrates a clock while it is loaded (3.3 ms on an
// Intel machine, docs/dev/start.md), which would delay the opening of a plugin.
#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace hwy {
namespace {

#if HWY_ARCH_X86
/// Two features that clang 14's builtin does not accept.
bool has_f16c_and_lzcnt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  return f16c && __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}
/// The conditions under which Highway's headers treat a target as the compiler's baseline.
bool has_sse4() {
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c_and_lzcnt() &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}

/// Each step requires the previous ones. The compiler's functions also check which registers the
/// system saves.
int64_t detected() {
  __builtin_cpu_init();
  int64_t found = 0;
  if (!__builtin_cpu_supports("ssse3")) return found;
  found |= HWY_SSSE3;
  if (!has_sse4()) return found;
  found |= HWY_SSE4;
  if (!has_avx2()) return found;
  found |= HWY_AVX2;
  return has_avx512() ? found | HWY_AVX3 : found;
}
#else
int64_t detected() { return 0; }  // the baseline: NEON on 64-bit Arm
#endif

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = detected() | HWY_ENABLED_BASELINE;
  return targets;
}

/// The target chosen for this plugin only.
ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
