// TensorMeta as torch writes it: element type, sizes, strides and offset of a tensor.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <tmeter/cpp/dtype.hpp>
#include <vector>

#include "json_util.hpp"
#include "symbols.hpp"

namespace pt2 {

// The numbers .pt2 files use for element types, layouts and memory formats, which are those of
// torch/_export/serde/schema.py and not c10's.

/// schema.ScalarType → TMETER_DTYPE_…; 14 … 27 are not used by the schema.
inline constexpr std::array<int32_t, 36> kScalarTypes{
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UINT8,           TMETER_DTYPE_INT8,
    TMETER_DTYPE_INT16,          TMETER_DTYPE_INT32,           TMETER_DTYPE_INT64,
    TMETER_DTYPE_FLOAT16,        TMETER_DTYPE_FLOAT32,         TMETER_DTYPE_FLOAT64,
    TMETER_DTYPE_COMPLEX32,      TMETER_DTYPE_COMPLEX64,       TMETER_DTYPE_COMPLEX128,
    TMETER_DTYPE_BOOL,           TMETER_DTYPE_BFLOAT16,        TMETER_DTYPE_UNDEFINED,
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UNDEFINED,       TMETER_DTYPE_UNDEFINED,
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UNDEFINED,       TMETER_DTYPE_UNDEFINED,
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UNDEFINED,       TMETER_DTYPE_UNDEFINED,
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UNDEFINED,       TMETER_DTYPE_UNDEFINED,
    TMETER_DTYPE_UNDEFINED,      TMETER_DTYPE_UINT16,          TMETER_DTYPE_FLOAT8_E4M3FN,
    TMETER_DTYPE_FLOAT8_E5M2,    TMETER_DTYPE_FLOAT8_E4M3FNUZ, TMETER_DTYPE_FLOAT8_E5M2FNUZ,
    TMETER_DTYPE_FLOAT8_E8M0FNU, TMETER_DTYPE_UINT32,          TMETER_DTYPE_UINT64,
};

/// Unknown numbers, which a newer minor version may add, are another type.
constexpr tmeter::DType scalar_type(int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(kScalarTypes.size())
             ? tmeter::DType(kScalarTypes[static_cast<size_t>(number)])
             : tmeter::DType();
}

inline constexpr std::array<std::string_view, 8> kLayouts{
    "unknown layout", "sparse_coo", "sparse_csr", "sparse_csc",
    "sparse_bsr",     "sparse_bsc", "mkldnn",     "strided"};
inline constexpr std::array<std::string_view, 5> kMemoryFormats{
    "unknown memory format", "contiguous_format", "channels_last", "channels_last_3d",
    "preserve_format"};

template <size_t N>
constexpr std::string_view enum_name(const std::array<std::string_view, N>& names, int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(N) ? names[static_cast<size_t>(number)]
                                                         : names[0];
}

/// A TensorMeta whose numbers do not depend on symbols.
struct FixedTensorMeta {
  int16_t dtype = 0;
  bool requires_grad = false;
  int64_t storage_offset = 0;
  std::vector<int64_t> sizes, strides;  // equally many, at most 64
};

/// Returns false if a member is missing, malformed or symbolic; `out` is then undefined.
bool read_fixed(json::object meta, FixedTensorMeta& out);

/// The sizes, symbolic or not. Empties `dims` first. Throws BadFile for impossible sizes.
void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims);
tmeter::DType read_dtype(json::object meta);
/// Throws BadFile for impossible sizes. The host refuses them too, but without a name.
void check_shape(std::span<const tmeter_dim> dims);

}  // namespace pt2
