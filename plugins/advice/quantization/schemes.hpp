// The schemes for storing weights in fewer bits, as a table. Formulas and sources:
// docs/conventions.md, "Quantization".
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace quantization {

/// The elements that share one scale.
enum class Scope { kTensor, kChannel, kGroup, kElement };

enum class Grid {
  kInteger,  // steps of equal size
  kFloat,    // a small floating-point format
  kNormal,   // the 16 levels of NF4
};

/// A binary format with `mantissa` bits, gradual underflow below 2^min_exponent, and saturation.
struct FloatFormat {
  int mantissa, min_exponent;
  float largest;
};

struct Scheme {
  std::string_view id;     // "int4_group128": option value, and the metric is "sqnr_" + id
  std::string_view title;  // "int4, groups of 128"
  Grid grid;
  Scope scope;
  int bits;
  bool symmetric;
  int group;                // elements of a row that share a scale (Scope::kGroup)
  int scale_bits;           // bits per scale, including the zero point
  FloatFormat format;       // Grid::kFloat
  std::string_view column;  // title in the table of tensors; empty: a detail
};

// OCP 8-bit Floating Point Specification 1.0; OCP Microscaling Formats 1.0; IEEE 754.
inline constexpr FloatFormat kE4m3{3, -6, 448.f}, kE5m2{2, -14, 57344.f}, kE2m1{1, 0, 6.f},
    kHalf{10, -14, 65504.f}, kBrain{7, -126, 0x1.fep127f};

/// Scales take 32 bits per tensor and channel (like those of torchao's Int8Tensor), 16 per group;
/// zero points take as many bits as an element.
constexpr Scheme integer(std::string_view id, std::string_view title, int bits, Scope scope,
                         int group, bool symmetric, std::string_view column = {}) {
  const int scale_bits = (scope == Scope::kGroup ? 16 : 32) + (symmetric ? 0 : bits);
  return {id, title, Grid::kInteger, scope, bits, symmetric, group, scale_bits, {}, column};
}
constexpr Scheme floating(std::string_view id, std::string_view title, int bits, Scope scope,
                          int scale_bits, FloatFormat format, std::string_view column = {}) {
  const int group = scope == Scope::kGroup ? 32 : 0;  // MX
  return {id, title, Grid::kFloat, scope, bits, true, group, scale_bits, format, column};
}

inline constexpr std::array<Scheme, 28> kSchemes{{
    integer("int8_tensor", "int8 per tensor", 8, Scope::kTensor, 0, true),
    integer("int8_tensor_asym", "int8 per tensor, asymmetric", 8, Scope::kTensor, 0, false),
    integer("int8_channel", "int8 per channel", 8, Scope::kChannel, 0, true, "int8"),
    integer("int8_channel_asym", "int8 per channel, asymmetric", 8, Scope::kChannel, 0, false),
    integer("int8_group128", "int8, groups of 128", 8, Scope::kGroup, 128, true),
    integer("int8_group128_asym", "int8, groups of 128, asymmetric", 8, Scope::kGroup, 128, false),
    integer("int8_group64", "int8, groups of 64", 8, Scope::kGroup, 64, true),
    integer("int8_group64_asym", "int8, groups of 64, asymmetric", 8, Scope::kGroup, 64, false),
    integer("int8_group32", "int8, groups of 32", 8, Scope::kGroup, 32, true),
    integer("int8_group32_asym", "int8, groups of 32, asymmetric", 8, Scope::kGroup, 32, false),
    integer("int4_tensor", "int4 per tensor", 4, Scope::kTensor, 0, true),
    integer("int4_tensor_asym", "int4 per tensor, asymmetric", 4, Scope::kTensor, 0, false),
    integer("int4_channel", "int4 per channel", 4, Scope::kChannel, 0, true),
    integer("int4_channel_asym", "int4 per channel, asymmetric", 4, Scope::kChannel, 0, false),
    integer("int4_group128", "int4, groups of 128", 4, Scope::kGroup, 128, true, "int4 g128"),
    integer("int4_group128_asym", "int4, groups of 128, asymmetric", 4, Scope::kGroup, 128, false),
    integer("int4_group64", "int4, groups of 64", 4, Scope::kGroup, 64, true),
    integer("int4_group64_asym", "int4, groups of 64, asymmetric", 4, Scope::kGroup, 64, false),
    integer("int4_group32", "int4, groups of 32", 4, Scope::kGroup, 32, true),
    integer("int4_group32_asym", "int4, groups of 32, asymmetric", 4, Scope::kGroup, 32, false),
    floating("fp8_e4m3_tensor", "fp8 e4m3 per tensor", 8, Scope::kTensor, 32, kE4m3),
    floating("fp8_e4m3", "fp8 e4m3 per channel", 8, Scope::kChannel, 32, kE4m3, "e4m3"),
    floating("fp8_e5m2_tensor", "fp8 e5m2 per tensor", 8, Scope::kTensor, 32, kE5m2),
    floating("fp8_e5m2", "fp8 e5m2 per channel", 8, Scope::kChannel, 32, kE5m2),
    // float32 per block: bitsandbytes without nested quantization
    {"nf4", "nf4, blocks of 64", Grid::kNormal, Scope::kGroup, 4, true, 64, 32, {}, "nf4"},
    floating("mxfp4", "mxfp4, blocks of 32", 4, Scope::kGroup, 8, kE2m1),
    floating("bf16", "bfloat16", 16, Scope::kElement, 0, kBrain),
    floating("fp16", "float16", 16, Scope::kElement, 0, kHalf),
}};

inline constexpr size_t kSchemeCount = kSchemes.size();

/// Position in kSchemes; empty if there is no such scheme.
constexpr std::optional<size_t> scheme_at(std::string_view id) {
  for (size_t i = 0; i < kSchemeCount; ++i)
    if (kSchemes[i].id == id) return i;
  return std::nullopt;
}

}  // namespace quantization
