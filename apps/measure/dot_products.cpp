#include "arithmetic.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace measure {

#if defined(__x86_64__)
namespace {

__attribute__((target("avx512f,avx512vnni"))) double int8_of(size_t rounds) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, e = a, f = a;
  __m512i g = a, h = a, i = a, j = a, k = a, l = a;
  __m512i x = _mm512_set1_epi8(1), y = x;
  for (size_t n = 0; n < rounds; ++n) {
    // Makes the compiler assume that each variable changes, so that it merges no chains and drops
    // no rounds.
    asm volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(x));
    asm volatile("" : "+v"(g), "+v"(h), "+v"(i), "+v"(j), "+v"(k), "+v"(l), "+v"(y));
    a = _mm512_dpbusd_epi32(a, x, y), b = _mm512_dpbusd_epi32(b, x, y),
    c = _mm512_dpbusd_epi32(c, x, y);
    d = _mm512_dpbusd_epi32(d, x, y), e = _mm512_dpbusd_epi32(e, x, y),
    f = _mm512_dpbusd_epi32(f, x, y);
    g = _mm512_dpbusd_epi32(g, x, y), h = _mm512_dpbusd_epi32(h, x, y),
    i = _mm512_dpbusd_epi32(i, x, y);
    j = _mm512_dpbusd_epi32(j, x, y), k = _mm512_dpbusd_epi32(k, x, y),
    l = _mm512_dpbusd_epi32(l, x, y);
  }
  asm volatile("" : : "v"(a), "v"(b), "v"(c), "v"(d), "v"(e), "v"(f));
  asm volatile("" : : "v"(g), "v"(h), "v"(i), "v"(j), "v"(k), "v"(l));
  return static_cast<double>(rounds) * 12 * 64;
}

__attribute__((target("avx512f,avx512bf16"))) double bfloat16_of(size_t rounds) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a, e = a, f = a;
  __m512 g = a, h = a, i = a, j = a, k = a, l = a;
  __m512i x = _mm512_set1_epi16(0x3F80), y = x;  // 1
  for (size_t n = 0; n < rounds; ++n) {
    // Makes the compiler assume that each variable changes, so that it merges no chains and drops
    // no rounds.
    asm volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(x));
    asm volatile("" : "+v"(g), "+v"(h), "+v"(i), "+v"(j), "+v"(k), "+v"(l), "+v"(y));
    const auto u = (__m512bh)x, v = (__m512bh)y;
    a = _mm512_dpbf16_ps(a, u, v), b = _mm512_dpbf16_ps(b, u, v), c = _mm512_dpbf16_ps(c, u, v);
    d = _mm512_dpbf16_ps(d, u, v), e = _mm512_dpbf16_ps(e, u, v), f = _mm512_dpbf16_ps(f, u, v);
    g = _mm512_dpbf16_ps(g, u, v), h = _mm512_dpbf16_ps(h, u, v), i = _mm512_dpbf16_ps(i, u, v);
    j = _mm512_dpbf16_ps(j, u, v), k = _mm512_dpbf16_ps(k, u, v), l = _mm512_dpbf16_ps(l, u, v);
  }
  asm volatile("" : : "v"(a), "v"(b), "v"(c), "v"(d), "v"(e), "v"(f));
  asm volatile("" : : "v"(g), "v"(h), "v"(i), "v"(j), "v"(k), "v"(l));
  return static_cast<double>(rounds) * 12 * 32;
}

}  // namespace

std::vector<InstructionSet> dot_product_sets() {
  std::vector<InstructionSet> sets;
  if (__builtin_cpu_supports("avx512vnni"))
    sets.push_back({"AVX512_VNNI", {{"peak.mac", "int8", "dot products of four", int8_of}}});
  if (__builtin_cpu_supports("avx512bf16"))
    sets.push_back({"AVX512_BF16", {{"peak.mac", "bfloat16", "dot products of two", bfloat16_of}}});
  return sets;
}
#else
std::vector<InstructionSet> dot_product_sets() { return {}; }
#endif

}  // namespace measure
