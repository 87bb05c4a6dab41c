// Plain loops over the elements of a block, which the compiler vectorises: Highway only compiles
// this file once for each instruction set and chooses one at run time. Products and sums must not
// be fused (CMakeLists.txt).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "blocks.hpp"
#include "grids.hpp"

HWY_BEFORE_NAMESPACE();
namespace gguf::HWY_NAMESPACE {

using Bytes = const uint8_t* HWY_RESTRICT;
using Floats = float* HWY_RESTRICT;

template <class T>
inline T read(Bytes p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// IEEE half precision as float32.
inline float float_of_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, rest = half & 0x7fff;
  uint32_t bits = (rest << 13) + (112u << 23);
  if (rest >= 0x7c00) bits = rest << 13 | 0x7f800000;
  if (rest < 0x400) bits = std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24f);
  return std::bit_cast<float>(bits | sign);
}
inline float half(Bytes p) { return float_of_half(read<uint16_t>(p)); }
inline float e8m0_half(uint8_t x) {
  return std::bit_cast<float>(x < 2 ? 0x00200000u << x : static_cast<uint32_t>(x - 1) << 23);
}
/// Half of an unsigned float of 4 bits of exponent and 3 of mantissa; NaN counts as 0, as in ggml.
inline float ue4m3_half(uint8_t x) {
  if (x == 0 || x == 0x7f) return 0;
  const int exponent = x >> 3 & 0xf, mantissa = x & 7;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  const auto power = std::bit_cast<float>(static_cast<uint32_t>(exponent - 8 + 127) << 23);
  return (1 + static_cast<float>(mantissa) / 8) * power;
}

inline float f(int x) { return static_cast<float>(x); }

// --- Q4_0 … Q8_1 ---

inline void q4_0(Bytes b, Floats out) {
  const float d = half(b);
  for (int j = 0; j < 16; ++j) out[j] = d * f((b[2 + j] & 15) - 8);
  for (int j = 0; j < 16; ++j) out[16 + j] = d * f((b[2 + j] >> 4) - 8);
}
inline void q4_1(Bytes b, Floats out) {
  const float d = half(b), m = half(b + 2);
  for (int j = 0; j < 16; ++j) out[j] = d * f(b[4 + j] & 15) + m;
  for (int j = 0; j < 16; ++j) out[16 + j] = d * f(b[4 + j] >> 4) + m;
}
inline int fifth_bit(uint32_t bits, int j) { return static_cast<int>(bits >> j & 1) << 4; }
inline void q5_0(Bytes b, Floats out) {
  const float d = half(b);
  const auto high = read<uint32_t>(b + 2);
  for (int j = 0; j < 16; ++j) out[j] = d * f(((b[6 + j] & 15) | fifth_bit(high, j)) - 16);
  for (int j = 0; j < 16; ++j)
    out[16 + j] = d * f(((b[6 + j] >> 4) | fifth_bit(high, 16 + j)) - 16);
}
inline void q5_1(Bytes b, Floats out) {
  const float d = half(b), m = half(b + 2);
  const auto high = read<uint32_t>(b + 4);
  for (int j = 0; j < 16; ++j) out[j] = d * f((b[8 + j] & 15) | fifth_bit(high, j)) + m;
  for (int j = 0; j < 16; ++j) out[16 + j] = d * f((b[8 + j] >> 4) | fifth_bit(high, 16 + j)) + m;
}
inline int int8(uint8_t x) { return static_cast<int8_t>(x); }
inline void q8_0(Bytes b, Floats out) {
  const float d = half(b);
  for (int j = 0; j < 32; ++j) out[j] = d * f(int8(b[2 + j]));
}
inline void q8_1(Bytes b, Floats out) {  // after the scale: d × the sum of all codes
  const float d = half(b);
  for (int j = 0; j < 32; ++j) out[j] = d * f(int8(b[4 + j]));
}
inline void q8_1_f32(Bytes b, Floats out) {
  const float d = read<float>(b);
  for (int j = 0; j < 32; ++j) out[j] = d * f(int8(b[8 + j]));
}

// --- K ---

inline void q2_k(Bytes b, Floats out) {
  const float d = half(b + 80), min = half(b + 82);
  for (int g = 0; g < 16; ++g, out += 16) {
    const Bytes q = b + 16 + g / 8 * 32 + g % 2 * 16;
    const int shift = g % 8 / 2 * 2;
    const float dl = d * f(b[g] & 15), ml = min * f(b[g] >> 4);
    for (int j = 0; j < 16; ++j) out[j] = dl * f(q[j] >> shift & 3) - ml;
  }
}
inline void q3_k(Bytes b, Floats out) {
  const float d = half(b + 108);
  const Bytes s = b + 96;
  for (int g = 0; g < 16; ++g, out += 16) {
    const int low = g < 8 ? s[g] & 15 : s[g - 8] >> 4, high = s[8 + g % 4] >> g / 4 * 2 & 3;
    const float dl = d * f((low | high << 4) - 32);
    const Bytes q = b + 32 + g / 8 * 32 + g % 2 * 16, mask = b + g % 2 * 16;
    const int shift = g % 8 / 2 * 2, bit = g / 2;
    for (int j = 0; j < 16; ++j) {
      const int lacking = (mask[j] >> bit & 1) ^ 1;
      out[j] = dl * f((q[j] >> shift & 3) - lacking * 4);
    }
  }
}
struct ScaleMin {
  float scale, min;
};
/// Scale and minimum of group g of 8, six bits each. The upper two bits of the last four groups are
/// beside the bits of the first four.
inline ScaleMin scale_min(Bytes s, int g) {
  if (g < 4) return {f(s[g] & 63), f(s[4 + g] & 63)};
  return {f((s[4 + g] & 15) | (s[g - 4] >> 2 & 0x30)), f(s[4 + g] >> 4 | (s[g] >> 2 & 0x30))};
}
inline void q4_k(Bytes b, Floats out) {
  const float d = half(b), min = half(b + 2);
  for (int g = 0; g < 8; g += 2, out += 64) {
    const auto low = scale_min(b + 4, g), high = scale_min(b + 4, g + 1);
    const float d1 = d * low.scale, m1 = min * low.min, d2 = d * high.scale, m2 = min * high.min;
    const Bytes q = b + 16 + g * 16;
    for (int j = 0; j < 32; ++j) out[j] = d1 * f(q[j] & 15) - m1;
    for (int j = 0; j < 32; ++j) out[32 + j] = d2 * f(q[j] >> 4) - m2;
  }
}
inline void q5_k(Bytes b, Floats out) {
  const float d = half(b), min = half(b + 2);
  const Bytes h = b + 16;
  for (int g = 0; g < 8; g += 2, out += 64) {
    const auto low = scale_min(b + 4, g), high = scale_min(b + 4, g + 1);
    const float d1 = d * low.scale, m1 = min * low.min, d2 = d * high.scale, m2 = min * high.min;
    const Bytes q = b + 48 + g * 16;
    for (int j = 0; j < 32; ++j) out[j] = d1 * f((q[j] & 15) | (h[j] >> g & 1) << 4) - m1;
    for (int j = 0; j < 32; ++j) out[32 + j] = d2 * f(q[j] >> 4 | (h[j] >> (g + 1) & 1) << 4) - m2;
  }
}
inline void q6_k(Bytes b, Floats out) {
  const float d = half(b + 208);
  for (int chunk = 0; chunk < 2; ++chunk) {
    const Bytes h = b + 128 + chunk * 32;
    for (int g = 0; g < 4; ++g, out += 32) {
      const Bytes q = b + chunk * 64 + g % 2 * 32, s = b + 192 + chunk * 8 + g * 2;
      const float d1 = d * f(int8(s[0])), d2 = d * f(int8(s[1]));
      const int low = g / 2 * 4, high = g * 2;
      for (int j = 0; j < 16; ++j)
        out[j] = d1 * f(((q[j] >> low & 15) | (h[j] >> high & 3) << 4) - 32);
      for (int j = 16; j < 32; ++j)
        out[j] = d2 * f(((q[j] >> low & 15) | (h[j] >> high & 3) << 4) - 32);
    }
  }
}
inline void q8_k(Bytes b, Floats out) {  // after the codes: their sums
  const float d = read<float>(b);
  for (int j = 0; j < 256; ++j) out[j] = d * f(int8(b[4 + j]));
}

// --- Ternary, binary ---

/// Five trits in a byte, as a fraction of 3^5: times a power of 3, the next trit is the integer
/// part.
inline void trits(Bytes q, int bytes, int powers, float d, Floats out) {
  uint8_t power = 1;
  for (int i = 0; i < powers; ++i, power = static_cast<uint8_t>(power * 3), out += bytes)
    for (int j = 0; j < bytes; ++j)
      out[j] = d * f((static_cast<uint8_t>(q[j] * power) * 3 >> 8) - 1);
}
inline void tq1_0(Bytes b, Floats out) {
  const float d = half(b + 52);
  trits(b, 32, 5, d, out);
  trits(b + 32, 16, 5, d, out + 160);
  trits(b + 48, 4, 4, d, out + 240);
}
inline void tq2_0(Bytes b, Floats out) {
  const float d = half(b + 64);
  for (int g = 0; g < 8; ++g, out += 32) {
    const Bytes q = b + g / 4 * 32;
    const int shift = g % 4 * 2;
    for (int j = 0; j < 32; ++j) out[j] = d * f((q[j] >> shift & 3) - 1);
  }
}
inline void q1_0(Bytes b, Floats out) {
  const float d = half(b);
  for (int j = 0; j < 128; ++j) out[j] = b[2 + j / 8] >> j % 8 & 1 ? d : -d;
}
template <int kElements>
void q2_0(Bytes b, Floats out) {
  const float d = half(b);
  for (int j = 0; j < kElements; ++j) out[j] = d * f((b[2 + j / 4] >> j % 4 * 2 & 3) - 1);
}

// --- Tables of 16 ---

/// E2M1, doubled.
constexpr int8_t kFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
constexpr int8_t kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                             1,    13,   25,  38,  53,  69,  89,  113};

/// The low halves of the bytes, then the high ones.
inline void nibbles(const int8_t (&table)[16], Bytes q, int bytes, float d, Floats out) {
  for (int j = 0; j < bytes; ++j) out[j] = d * f(table[q[j] & 15]);
  for (int j = 0; j < bytes; ++j) out[bytes + j] = d * f(table[q[j] >> 4]);
}
inline void mxfp4(Bytes b, Floats out) { nibbles(kFp4, b + 1, 16, e8m0_half(b[0]), out); }
inline void nvfp4(Bytes b, Floats out) {
  for (int g = 0; g < 4; ++g) nibbles(kFp4, b + 4 + g * 8, 8, ue4m3_half(b[g]), out + g * 16);
}
inline void iq4_nl(Bytes b, Floats out) { nibbles(kIq4, b + 2, 16, half(b), out); }
inline void iq4_xs(Bytes b, Floats out) {
  const float d = half(b);
  const auto high = read<uint16_t>(b + 2);
  for (int g = 0; g < 8; ++g) {
    const int scale = (b[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
    nibbles(kIq4, b + 8 + g * 16, 16, d * f(scale - 32), out + g * 32);
  }
}

// --- Lattices ---

/// Seven signs, and an eighth that makes their number even.
inline int all_signs(uint32_t seven) {
  return static_cast<int>(seven | (static_cast<uint32_t>(std::popcount(seven)) & 1) << 7);
}
/// Eight elements; bit j of `signs`: element j is negative.
inline void signed_eight(const int8_t* magnitudes, float d, int signs, Floats out) {
  for (int j = 0; j < 8; ++j) out[j] = d * f(magnitudes[j]) * (signs >> j & 1 ? -1.f : 1.f);
}
inline void signed_two_fours(const int8_t* first, const int8_t* second, float d, int signs,
                             Floats out) {
  int8_t eight[8];
  std::memcpy(eight, first, 4);
  std::memcpy(eight + 4, second, 4);
  signed_eight(eight, d, signs, out);
}
inline void shifted_eight(const int8_t* trits, float d, float delta, Floats out) {
  for (int j = 0; j < 8; ++j) out[j] = d * (f(trits[j]) + delta);
}

inline void iq2_xxs(Bytes b, Floats out) {
  const float d = half(b);
  for (int g = 0; g < 8; ++g) {
    const Bytes q = b + 2 + g * 8;
    const auto rest = read<uint32_t>(q + 4);
    const float db = d * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    for (int i = 0; i < 4; ++i, out += 8)
      signed_eight(grids::kIq2Xxs[q[i]].data(), db, all_signs(rest >> 7 * i & 127), out);
  }
}
inline void iq2_xs(Bytes b, Floats out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i, out += 8) {
    const auto q = read<uint16_t>(b + 2 + i * 2);
    const float db = d * (0.5f + f(b[66 + i / 4] >> i / 2 % 2 * 4 & 15)) * 0.25f;
    signed_eight(grids::kIq2Xs[q & 511].data(), db, all_signs(q >> 9), out);
  }
}
inline void iq2_s(Bytes b, Floats out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i, out += 8) {
    const auto q = static_cast<size_t>(b[2 + i] | (b[66 + i / 4] >> i % 4 * 2 & 3) << 8);
    const float db = d * (0.5f + f(b[74 + i / 4] >> i / 2 % 2 * 4 & 15)) * 0.25f;
    signed_eight(grids::kIq2S[q].data(), db, b[34 + i], out);
  }
}
inline void iq3_xxs(Bytes b, Floats out) {
  const float d = half(b);
  for (int g = 0; g < 8; ++g) {
    const Bytes q = b + 2 + g * 8;
    const auto rest = read<uint32_t>(b + 66 + g * 4);
    const float db = d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f;
    for (int i = 0; i < 4; ++i, out += 8)
      signed_two_fours(grids::kIq3Xxs[q[2 * i]].data(), grids::kIq3Xxs[q[2 * i + 1]].data(), db,
                       all_signs(rest >> 7 * i & 127), out);
  }
}
inline void iq3_s(Bytes b, Floats out) {
  const float d = half(b);
  const auto code = [&](int i) {
    return static_cast<size_t>(b[2 + i] | (b[66 + i / 8] >> i % 8 & 1) << 8);
  };
  for (int i = 0; i < 32; ++i, out += 8) {
    const float db = d * f(1 + 2 * (b[106 + i / 8] >> i / 4 % 2 * 4 & 15));
    signed_two_fours(grids::kIq3S[code(2 * i)].data(), grids::kIq3S[code(2 * i + 1)].data(), db,
                     b[74 + i], out);
  }
}
inline void iq1_s(Bytes b, Floats out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i, out += 8) {
    const auto h = read<uint16_t>(b + 34 + i / 4 * 2);
    const auto q = static_cast<size_t>(b[2 + i] | (h >> i % 4 * 3 & 7) << 8);
    shifted_eight(grids::kIq1S[q].data(), d * f(2 * (h >> 12 & 7) + 1),
                  h & 0x8000 ? -0.125f : 0.125f, out);
  }
}
/// The scale's four digits are the top digits of the four words of scales.
inline uint16_t split_half(Bytes s) {
  const auto digit = [&](int i) { return read<uint16_t>(s + 2 * i) >> 12; };
  return static_cast<uint16_t>(digit(0) | digit(1) << 4 | digit(2) << 8 | digit(3) << 12);
}
inline void iq1_m(Bytes b, Floats out) {
  const float d = float_of_half(split_half(b + 48));
  for (int i = 0; i < 32; ++i, out += 8) {
    const int h = b[32 + i / 2] >> i % 2 * 4;
    const int scale = read<uint16_t>(b + 48 + i / 8 * 2) >> i / 2 % 4 * 3 & 7;
    const auto q = static_cast<size_t>(b[i] | (h & 7) << 8);
    shifted_eight(grids::kIq1S[q].data(), d * f(2 * scale + 1), h & 8 ? -0.125f : 0.125f, out);
  }
}

// --- One by one ---

inline void f32(Bytes b, Floats out) { *out = read<float>(b); }
inline void f16(Bytes b, Floats out) { *out = half(b); }
inline void bf16(Bytes b, Floats out) {
  *out = std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(b)) << 16);
}
inline void f64(Bytes b, Floats out) { *out = static_cast<float>(read<double>(b)); }

template <size_t kElements, size_t kBytes, void (*kDecode)(Bytes, Floats)>
void each(const uint8_t* blocks, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i, blocks += kBytes, out += kElements) kDecode(blocks, out);
}

DecodeBlocks find_kernel(std::string_view encoding) {
  struct Row {
    std::string_view encoding;
    DecodeBlocks decode;
  };
  static constexpr Row kRows[] = {
      {"ggml.q4_0", each<32, 18, q4_0>},
      {"ggml.q4_1", each<32, 20, q4_1>},
      {"ggml.q5_0", each<32, 22, q5_0>},
      {"ggml.q5_1", each<32, 24, q5_1>},
      {"ggml.q8_0", each<32, 34, q8_0>},
      {"ggml.q8_1", each<32, 36, q8_1>},
      {"ggml.q8_1_f32", each<32, 40, q8_1_f32>},
      {"ggml.q2_k", each<256, 84, q2_k>},
      {"ggml.q3_k", each<256, 110, q3_k>},
      {"ggml.q4_k", each<256, 144, q4_k>},
      {"ggml.q5_k", each<256, 176, q5_k>},
      {"ggml.q6_k", each<256, 210, q6_k>},
      {"ggml.q8_k", each<256, 292, q8_k>},
      {"ggml.iq2_xxs", each<256, 66, iq2_xxs>},
      {"ggml.iq2_xs", each<256, 74, iq2_xs>},
      {"ggml.iq3_xxs", each<256, 98, iq3_xxs>},
      {"ggml.iq1_s", each<256, 50, iq1_s>},
      {"ggml.iq4_nl", each<32, 18, iq4_nl>},
      {"ggml.iq3_s", each<256, 110, iq3_s>},
      {"ggml.iq2_s", each<256, 82, iq2_s>},
      {"ggml.iq4_xs", each<256, 136, iq4_xs>},
      {"ggml.iq1_m", each<256, 56, iq1_m>},
      {"ggml.tq1_0", each<256, 54, tq1_0>},
      {"ggml.tq2_0", each<256, 66, tq2_0>},
      {"ggml.mxfp4", each<32, 17, mxfp4>},
      {"ggml.nvfp4", each<64, 36, nvfp4>},
      {"ggml.q1_0", each<128, 18, q1_0>},
      {"ggml.q2_0", each<64, 18, q2_0<64>>},
      {"prism.q2_0", each<128, 34, q2_0<128>>},
      {"ggml.f32", each<1, 4, f32>},
      {"ggml.f16", each<1, 2, f16>},
      {"ggml.bf16", each<1, 2, bf16>},
      {"ggml.f64", each<1, 8, f64>},
  };
  for (const auto& row : kRows)
    if (row.encoding == encoding) return row.decode;
  return nullptr;
}

}  // namespace gguf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gguf {

HWY_EXPORT(find_kernel);

DecodeBlocks kernel_of(std::string_view encoding) {
  return HWY_DYNAMIC_DISPATCH(find_kernel)(encoding);
}

}  // namespace gguf
#endif
