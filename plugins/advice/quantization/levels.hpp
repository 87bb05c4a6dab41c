// NF4: the 16 levels, and the midpoints between them at which rounding changes.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace quantization {

/// Dettmers et al., QLoRA, NeurIPS 2023, arXiv:2305.14314, appendix E; as in bitsandbytes
/// (functional.py, get_4bit_type).
inline constexpr std::array<float, 16> kNormalLevels{-1.0f,
                                                     -0.6961928009986877f,
                                                     -0.5250730514526367f,
                                                     -0.39491748809814453f,
                                                     -0.28444138169288635f,
                                                     -0.18477343022823334f,
                                                     -0.09105003625154495f,
                                                     0.0f,
                                                     0.07958029955625534f,
                                                     0.16093020141124725f,
                                                     0.24611230194568634f,
                                                     0.33791524171829224f,
                                                     0.44070982933044434f,
                                                     0.5626170039176941f,
                                                     0.7229568362236023f,
                                                     1.0f};

inline constexpr auto kNormalBounds = [] {
  std::array<float, 15> bounds{};
  for (size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = (kNormalLevels[i] + kNormalLevels[i + 1]) / 2;
  return bounds;
}();

/// 2^exponent, for exponents of normal floats.
constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

}  // namespace quantization
