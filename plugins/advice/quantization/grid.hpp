// The grids that numbers are rounded to, from the range of the numbers that share a scale.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "kernels.hpp"

namespace quantization {

/// NF4: the 16 levels, and the midpoints between them at which rounding changes.
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

/// Smallest and largest of some numbers and zero.
struct Range {
  float lo = 0, hi = 0;
  float largest() const { return std::max(-lo, hi); }
  void take(const Range& o) { lo = std::min(lo, o.lo), hi = std::max(hi, o.hi); }
};

/// Step and zero point of PyTorch's MinMaxObserver (per_tensor_affine, per_tensor_symmetric) and of
/// torchao's choose_qparams_affine (ASYMMETRIC, SYMMETRIC): b bits hold -2^(b-1) … 2^(b-1) - 1, and
/// the symmetric step is absmax / ((2^b - 1) / 2), so that all 2^b codes are used and the largest
/// number may be half a step off. `unit`: the unit of errors.
inline IntegerGroup integer_grid(const Range& r, int bits, bool symmetric, float unit) {
  const float codes = static_cast<float>((1 << bits) - 1);
  const float least = -static_cast<float>(1 << (bits - 1)), most = least + codes;
  const float step =
      std::max(symmetric ? r.largest() / (codes / 2) : r.hi / codes - r.lo / codes, FLT_MIN);
  const float zero = symmetric ? 0.f : std::clamp(least - std::nearbyint(r.lo / step), least, most);
  const float relative = step / unit;
  return {1.f / step, least - zero, most - zero, relative * relative};
}

/// The power of two at or below v; 2^-126 for smaller v.
inline float binade(float v) {
  const uint32_t exponent = std::bit_cast<uint32_t>(std::max(v, FLT_MIN)) & 0x7f800000u;
  return std::bit_cast<float>(exponent);
}

/// fp8: scale = absmax / largest, as torchao's Float8Tensor. A format with few exponents in small
/// blocks is MX: scale = 2^(floor(log2 absmax) - largest exponent of the format), a power of two
/// (OCP Microscaling Formats 1.0, 6.3). NF4: absmax.
inline LevelGroup level_grid(const Range& r, const Scheme& s, float unit) {
  const bool shared_exponent = s.grid == Grid::kFloat && s.scope == Scope::kGroup;
  const float scale = s.grid == Grid::kNormal ? r.largest()
                      : shared_exponent       ? binade(r.largest()) / binade(s.format.largest)
                                              : r.largest() / s.format.largest;
  const float usable = std::max(scale, FLT_MIN);
  return {1.f / usable, usable / unit};
}

/// A cast has no scale. Numbers are brought near 1 by a power of two, and the format with them, so
/// that neither their squares nor the rounding leave the range of float.
struct Cast {
  LevelGroup group;
  FloatFormat format;
};
inline Cast cast_grid(float largest, FloatFormat format, float unit) {
  const float scale = std::min(binade(largest), power_of_two(126));
  const int exponent = std::ilogb(scale);
  format.min_exponent = std::max(format.min_exponent - exponent, -126);
  format.largest = std::min(format.largest / scale, 4.f);
  return {{1.f / scale, scale / unit}, format};
}

}  // namespace quantization
