// Element types: names, sizes and classes, as data.
#pragma once
#include <array>
#include <cstdint>

#include "base.hpp"

TMETER_SDK_BEGIN

enum class DTypeClass { kFloat, kInt, kBool, kComplex, kQuantized, kBits, kOther };

struct DTypeInfo {
  int32_t id;             // TMETER_DTYPE_…
  std::string_view name;  // torch's name without "torch."
  std::string_view code;  // short: f32, bf16, i64
  int bits;               // bits of an element in storage
  DTypeClass kind;
};

/// Source of ids and sizes: c10/core/ScalarType.h of torch 2.15. The sub-byte types UINT1…7 and
/// INT1…7 take a whole byte in storage; the x2/x4 types hold several numbers in one element.
inline constexpr std::array<DTypeInfo, 47> kDTypes{{
    {0, "uint8", "u8", 8, DTypeClass::kInt},
    {1, "int8", "i8", 8, DTypeClass::kInt},
    {2, "int16", "i16", 16, DTypeClass::kInt},
    {3, "int32", "i32", 32, DTypeClass::kInt},
    {4, "int64", "i64", 64, DTypeClass::kInt},
    {5, "float16", "f16", 16, DTypeClass::kFloat},
    {6, "float32", "f32", 32, DTypeClass::kFloat},
    {7, "float64", "f64", 64, DTypeClass::kFloat},
    {8, "complex32", "c32", 32, DTypeClass::kComplex},
    {9, "complex64", "c64", 64, DTypeClass::kComplex},
    {10, "complex128", "c128", 128, DTypeClass::kComplex},
    {11, "bool", "bool", 8, DTypeClass::kBool},
    {12, "qint8", "qi8", 8, DTypeClass::kQuantized},
    {13, "quint8", "qu8", 8, DTypeClass::kQuantized},
    {14, "qint32", "qi32", 32, DTypeClass::kQuantized},
    {15, "bfloat16", "bf16", 16, DTypeClass::kFloat},
    {16, "quint4x2", "qu4x2", 8, DTypeClass::kQuantized},
    {17, "quint2x4", "qu2x4", 8, DTypeClass::kQuantized},
    {18, "bits1x8", "b1x8", 8, DTypeClass::kBits},
    {19, "bits2x4", "b2x4", 8, DTypeClass::kBits},
    {20, "bits4x2", "b4x2", 8, DTypeClass::kBits},
    {21, "bits8", "b8", 8, DTypeClass::kBits},
    {22, "bits16", "b16", 16, DTypeClass::kBits},
    {23, "float8_e5m2", "f8e5m2", 8, DTypeClass::kFloat},
    {24, "float8_e4m3fn", "f8e4m3", 8, DTypeClass::kFloat},
    {25, "float8_e5m2fnuz", "f8e5m2fnuz", 8, DTypeClass::kFloat},
    {26, "float8_e4m3fnuz", "f8e4m3fnuz", 8, DTypeClass::kFloat},
    {27, "uint16", "u16", 16, DTypeClass::kInt},
    {28, "uint32", "u32", 32, DTypeClass::kInt},
    {29, "uint64", "u64", 64, DTypeClass::kInt},
    {30, "uint1", "u1", 8, DTypeClass::kInt},
    {31, "uint2", "u2", 8, DTypeClass::kInt},
    {32, "uint3", "u3", 8, DTypeClass::kInt},
    {33, "uint4", "u4", 8, DTypeClass::kInt},
    {34, "uint5", "u5", 8, DTypeClass::kInt},
    {35, "uint6", "u6", 8, DTypeClass::kInt},
    {36, "uint7", "u7", 8, DTypeClass::kInt},
    {37, "int1", "i1", 8, DTypeClass::kInt},
    {38, "int2", "i2", 8, DTypeClass::kInt},
    {39, "int3", "i3", 8, DTypeClass::kInt},
    {40, "int4", "i4", 8, DTypeClass::kInt},
    {41, "int5", "i5", 8, DTypeClass::kInt},
    {42, "int6", "i6", 8, DTypeClass::kInt},
    {43, "int7", "i7", 8, DTypeClass::kInt},
    {44, "float8_e8m0fnu", "f8e8m0", 8, DTypeClass::kFloat},
    {45, "float4_e2m1fn_x2", "f4x2", 8, DTypeClass::kFloat},
    {46, "bcomplex32", "bc32", 32, DTypeClass::kComplex},
}};

class DType {
 public:
  constexpr explicit DType(int32_t id = TMETER_DTYPE_UNDEFINED) : id_(id) {}
  constexpr int32_t id() const { return id_; }
  constexpr bool known() const { return id_ >= 0 && id_ < static_cast<int32_t>(kDTypes.size()); }
  constexpr std::string_view name() const { return known() ? kDTypes[id_].name : "unknown"; }
  constexpr std::string_view code() const { return known() ? kDTypes[id_].code : "?"; }
  /// Bytes of one element; 0 when the type is unknown.
  constexpr int64_t bytes() const { return known() ? kDTypes[id_].bits / 8 : 0; }
  constexpr DTypeClass kind() const { return known() ? kDTypes[id_].kind : DTypeClass::kOther; }
  /// By name ("float32") or short code ("f32"); UNDEFINED for any other text.
  static constexpr DType parse(std::string_view text) {
    for (const auto& d : kDTypes)
      if (d.name == text || d.code == text) return DType(d.id);
    return DType();
  }
  friend constexpr bool operator==(DType, DType) = default;

 private:
  int32_t id_;
};

TMETER_SDK_END
