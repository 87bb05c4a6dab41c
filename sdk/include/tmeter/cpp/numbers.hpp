// Elements of tensors as numbers: from the bytes of any real dtype to float or double.
//
//   std::vector<float> values(count);
//   tmeter::decode<float>(tensor.dtype(), chunk.bytes(), values);
//
// Every value of every type of at most 16 bits is exact in both. Wider ones are rounded to nearest:
// float64, and integers beyond 2^53 (double) or 2^24 (float). Bytes need no alignment.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "dtype.hpp"

TMETER_SDK_BEGIN

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

/// Why `decode` does not support elements of this type; empty if it does.
constexpr std::string_view undecodable(DType type) {
  const int32_t id = type.id();
  if (id >= TMETER_DTYPE_UINT1 && id < TMETER_DTYPE_FLOAT8_E8M0FNU)
    return "torch does not define the other bits of such a byte";
  if (id == TMETER_DTYPE_FLOAT4_E2M1FN_X2) return "two numbers share a byte, and need their scales";
  switch (type.kind()) {
    case DTypeClass::kFloat:
    case DTypeClass::kInt:
    case DTypeClass::kBool:
      return {};
    case DTypeClass::kComplex:
      return "complex numbers have no order, so no smallest, largest or median";
    case DTypeClass::kQuantized:
      return "quantized numbers mean something only with scale and zero point";
    default:
      return "it is a container of bits, not a type of numbers";
  }
}
constexpr bool decodable(DType type) { return undecodable(type).empty(); }

namespace detail {

/// A binary floating-point format of at most 8 bits.
struct SmallFloat {
  int32_t dtype;
  int exponent_bits, mantissa_bits, bias;
  enum Specials {
    kIeee,      // largest exponent: infinities and NaN
    kFinite,    // "fn": no infinities, all ones is NaN
    kUnsigned,  // "fnuz": no infinities, no -0, its code is the only NaN
  } specials;
};

/// Sources: OCP 8-bit Floating Point Specification 1.0 (e4m3, e5m2); Noune et al., arXiv:2206.02915
/// (fnuz).
inline constexpr std::array<SmallFloat, 4> kSmallFloats{{
    {TMETER_DTYPE_FLOAT8_E5M2, 5, 2, 15, SmallFloat::kIeee},
    {TMETER_DTYPE_FLOAT8_E4M3FN, 4, 3, 7, SmallFloat::kFinite},
    {TMETER_DTYPE_FLOAT8_E5M2FNUZ, 5, 2, 16, SmallFloat::kUnsigned},
    {TMETER_DTYPE_FLOAT8_E4M3FNUZ, 4, 3, 8, SmallFloat::kUnsigned},
}};

inline float small_float_value(const SmallFloat& f, unsigned code) {
  const unsigned magnitude = code & 0x7f, largest = (1u << f.exponent_bits) - 1;
  const unsigned exponent = magnitude >> f.mantissa_bits;
  const unsigned mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const float sign = code & 0x80 ? -1.f : 1.f;
  if (f.specials == SmallFloat::kUnsigned && code == 0x80)
    return std::numeric_limits<float>::quiet_NaN();
  if (f.specials == SmallFloat::kFinite && magnitude == 0x7f)
    return std::numeric_limits<float>::quiet_NaN();
  if (f.specials == SmallFloat::kIeee && exponent == largest)
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : sign * std::numeric_limits<float>::infinity();
  const unsigned hidden = exponent ? 1u << f.mantissa_bits : 0;
  const int scale = static_cast<int>(exponent ? exponent : 1) - f.bias - f.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(hidden + mantissa), scale);
}

using ByteValues = std::array<float, 256>;

inline ByteValues byte_values(DType type) {
  ByteValues out{};
  for (unsigned code = 0; code < out.size(); ++code) {
    switch (type.id()) {
      case TMETER_DTYPE_INT8:
        out[code] = static_cast<float>(static_cast<int8_t>(code));
        break;
      case TMETER_DTYPE_UINT8:
        out[code] = static_cast<float>(code);
        break;
      case TMETER_DTYPE_BOOL:
        out[code] = code ? 1.f : 0.f;
        break;
      case TMETER_DTYPE_FLOAT8_E8M0FNU:  // OCP Microscaling Formats 1.0: a power of two
        out[code] = code == 255 ? std::numeric_limits<float>::quiet_NaN()
                                : std::ldexp(1.f, static_cast<int>(code) - 127);
        break;
      default:
        for (const auto& f : kSmallFloats)
          if (f.dtype == type.id()) out[code] = small_float_value(f, code);
    }
  }
  return out;
}

inline const ByteValues& byte_table(DType type) {
  static const auto tables = [] {
    std::array<ByteValues, kDTypes.size()> all{};
    for (const auto& d : kDTypes)
      if (d.bits == 8) all[static_cast<size_t>(d.id)] = byte_values(DType(d.id));
    return all;
  }();
  return tables[static_cast<size_t>(type.id())];
}

inline float from_bfloat16(uint16_t code) { return std::bit_cast<float>(uint32_t{code} << 16); }

/// Has no branches, so that loops vectorise: exponent and mantissa are moved into place and the
/// difference of the biases (127 - 15) is multiplied in, which is also correct for subnormals.
inline float from_float16(uint16_t code) {
  const uint32_t magnitude = uint32_t{code} & 0x7fff;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = magnitude >= 0x7c00 ? 0x7f800000u : 0u;
  const uint32_t sign = (uint32_t{code} & 0x8000) << 16;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
}

template <class Stored, class Real, class Convert>
void convert_all(std::span<const uint8_t> bytes, std::span<Real> out, Convert convert) {
  const uint8_t* from = bytes.data();
  Real* to = out.data();
  for (size_t i = 0, n = out.size(); i < n; ++i) {
    Stored s;
    std::memcpy(&s, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<Real>(convert(s));
  }
}

template <class Stored, class Real>
void convert_all(std::span<const uint8_t> bytes, std::span<Real> out) {
  convert_all<Stored>(bytes, out, [](Stored s) { return s; });
}

}  // namespace detail

/// Fills `out`; `bytes` holds out.size() elements. Throws for types that are `undecodable`.
template <class Real>
void decode(DType type, std::span<const uint8_t> bytes, std::span<Real> out) {
  if (const auto why = undecodable(type); !why.empty())
    detail::raise(
        Error(TMETER_INVALID_ARGUMENT, std::string(type.name()) + ": " + std::string(why)));
  if (bytes.size() / static_cast<size_t>(type.bytes()) < out.size())
    detail::raise(Error(TMETER_INVALID_ARGUMENT, "decode: fewer bytes than elements wanted"));
  switch (type.id()) {
    case TMETER_DTYPE_FLOAT64:
      return detail::convert_all<double>(bytes, out);
    case TMETER_DTYPE_FLOAT32:
      return detail::convert_all<float>(bytes, out);
    case TMETER_DTYPE_FLOAT16:
      return detail::convert_all<uint16_t>(bytes, out, detail::from_float16);
    case TMETER_DTYPE_BFLOAT16:
      return detail::convert_all<uint16_t>(bytes, out, detail::from_bfloat16);
    case TMETER_DTYPE_INT64:
      return detail::convert_all<int64_t>(bytes, out);
    case TMETER_DTYPE_INT32:
      return detail::convert_all<int32_t>(bytes, out);
    case TMETER_DTYPE_INT16:
      return detail::convert_all<int16_t>(bytes, out);
    case TMETER_DTYPE_UINT64:
      return detail::convert_all<uint64_t>(bytes, out);
    case TMETER_DTYPE_UINT32:
      return detail::convert_all<uint32_t>(bytes, out);
    case TMETER_DTYPE_UINT16:
      return detail::convert_all<uint16_t>(bytes, out);
    default: {
      const auto& table = detail::byte_table(type);
      detail::convert_all<uint8_t>(bytes, out, [&table](uint8_t code) { return table[code]; });
    }
  }
}

/// The value of a bit pattern of a type of at most 16 bits. Statistics of such a tensor
/// follow from the frequencies of the patterns.
inline double value_of_code(DType type, uint16_t code) {
  double value = 0;
  const std::array<uint8_t, 2> bytes{static_cast<uint8_t>(code), static_cast<uint8_t>(code >> 8)};
  decode<double>(type, std::span(bytes).first(static_cast<size_t>(type.bytes())),
                 std::span(&value, 1));
  return value;
}

TMETER_SDK_END
