// The ways of storing weights in fewer bits that are tried, as data. Formulas and sources:
// docs/conventions.md, "Quantization".
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace quantization {

/// What shares one scale.
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
  int group;           // elements of a row that share a scale (Scope::kGroup)
  double scale_bits;   // per scale, zero point included
  FloatFormat format;  // Grid::kFloat
  bool shown;          // a column of its own by default
};

// OCP 8-bit Floating Point Specification 1.0; OCP Microscaling Formats 1.0; IEEE 754.
inline constexpr FloatFormat kE4m3{3, -6, 448.f}, kE5m2{2, -14, 57344.f}, kE2m1{1, 0, 6.f},
    kHalf{10, -14, 65504.f}, kBrain{7, -126, 0x1.fep127f};

// Scales: float32 per tensor and channel (as torchao's Int8Tensor and Float8Tensor keep them), 16
// bits per group, float32 per block of NF4 (bitsandbytes without nested quantization), one byte per
// block of MX. Zero points have the bits of an element.
inline constexpr std::array<Scheme, 28> kSchemes{{
    {"int8_tensor", "int8 per tensor", Grid::kInteger, Scope::kTensor, 8, true, 0, 32, {}, false},
    {"int8_tensor_asym",
     "int8 per tensor, asymmetric",
     Grid::kInteger,
     Scope::kTensor,
     8,
     false,
     0,
     40,
     {},
     false},
    {"int8_channel", "int8 per channel", Grid::kInteger, Scope::kChannel, 8, true, 0, 32, {}, true},
    {"int8_channel_asym",
     "int8 per channel, asymmetric",
     Grid::kInteger,
     Scope::kChannel,
     8,
     false,
     0,
     40,
     {},
     false},
    {"int8_group128",
     "int8, groups of 128",
     Grid::kInteger,
     Scope::kGroup,
     8,
     true,
     128,
     16,
     {},
     false},
    {"int8_group128_asym",
     "int8, groups of 128, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     8,
     false,
     128,
     24,
     {},
     false},
    {"int8_group64",
     "int8, groups of 64",
     Grid::kInteger,
     Scope::kGroup,
     8,
     true,
     64,
     16,
     {},
     false},
    {"int8_group64_asym",
     "int8, groups of 64, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     8,
     false,
     64,
     24,
     {},
     false},
    {"int8_group32",
     "int8, groups of 32",
     Grid::kInteger,
     Scope::kGroup,
     8,
     true,
     32,
     16,
     {},
     false},
    {"int8_group32_asym",
     "int8, groups of 32, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     8,
     false,
     32,
     24,
     {},
     false},
    {"int4_tensor", "int4 per tensor", Grid::kInteger, Scope::kTensor, 4, true, 0, 32, {}, false},
    {"int4_tensor_asym",
     "int4 per tensor, asymmetric",
     Grid::kInteger,
     Scope::kTensor,
     4,
     false,
     0,
     36,
     {},
     false},
    {"int4_channel",
     "int4 per channel",
     Grid::kInteger,
     Scope::kChannel,
     4,
     true,
     0,
     32,
     {},
     false},
    {"int4_channel_asym",
     "int4 per channel, asymmetric",
     Grid::kInteger,
     Scope::kChannel,
     4,
     false,
     0,
     36,
     {},
     false},
    {"int4_group128",
     "int4, groups of 128",
     Grid::kInteger,
     Scope::kGroup,
     4,
     true,
     128,
     16,
     {},
     true},
    {"int4_group128_asym",
     "int4, groups of 128, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     4,
     false,
     128,
     20,
     {},
     false},
    {"int4_group64",
     "int4, groups of 64",
     Grid::kInteger,
     Scope::kGroup,
     4,
     true,
     64,
     16,
     {},
     false},
    {"int4_group64_asym",
     "int4, groups of 64, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     4,
     false,
     64,
     20,
     {},
     false},
    {"int4_group32",
     "int4, groups of 32",
     Grid::kInteger,
     Scope::kGroup,
     4,
     true,
     32,
     16,
     {},
     false},
    {"int4_group32_asym",
     "int4, groups of 32, asymmetric",
     Grid::kInteger,
     Scope::kGroup,
     4,
     false,
     32,
     20,
     {},
     false},
    {"fp8_e4m3_tensor", "fp8 e4m3 per tensor", Grid::kFloat, Scope::kTensor, 8, true, 0, 32, kE4m3,
     false},
    {"fp8_e4m3", "fp8 e4m3 per channel", Grid::kFloat, Scope::kChannel, 8, true, 0, 32, kE4m3,
     true},
    {"fp8_e5m2_tensor", "fp8 e5m2 per tensor", Grid::kFloat, Scope::kTensor, 8, true, 0, 32, kE5m2,
     false},
    {"fp8_e5m2", "fp8 e5m2 per channel", Grid::kFloat, Scope::kChannel, 8, true, 0, 32, kE5m2,
     false},
    {"nf4", "nf4, blocks of 64", Grid::kNormal, Scope::kGroup, 4, true, 64, 32, {}, true},
    {"mxfp4", "mxfp4, blocks of 32", Grid::kFloat, Scope::kGroup, 4, true, 32, 8, kE2m1, false},
    {"bf16", "bfloat16", Grid::kFloat, Scope::kElement, 16, true, 0, 0, kBrain, false},
    {"fp16", "float16", Grid::kFloat, Scope::kElement, 16, true, 0, 0, kHalf, false},
}};

inline constexpr size_t kSchemeCount = kSchemes.size();

/// Position in kSchemes; empty when there is no such scheme.
constexpr std::optional<size_t> scheme_at(std::string_view id) {
  for (size_t i = 0; i < kSchemeCount; ++i)
    if (kSchemes[i].id == id) return i;
  return std::nullopt;
}

}  // namespace quantization
