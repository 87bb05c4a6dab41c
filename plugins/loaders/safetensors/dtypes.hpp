// safetensors' names of element types (safetensors 0.8, src/tensor.rs) → those of torch.
#pragma once
#include <tmeter/abi/dtype.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace safetensors {

struct ElementType {
  std::string_view name;
  int32_t dtype;  // TMETER_DTYPE_…; UNDEFINED if torch lacks the type
  int bits;       // of one element as the shape counts them
  int per_item;   // elements in one element of `dtype` (F4: two in a byte)
};

inline constexpr std::array<ElementType, 22> kElementTypes{{
    {"BOOL", TMETER_DTYPE_BOOL, 8, 1},
    {"F4", TMETER_DTYPE_FLOAT4_E2M1FN_X2, 4, 2},
    {"F6_E2M3", TMETER_DTYPE_UNDEFINED, 6, 1},
    {"F6_E3M2", TMETER_DTYPE_UNDEFINED, 6, 1},
    {"U8", TMETER_DTYPE_UINT8, 8, 1},
    {"I8", TMETER_DTYPE_INT8, 8, 1},
    {"F8_E5M2", TMETER_DTYPE_FLOAT8_E5M2, 8, 1},
    {"F8_E4M3", TMETER_DTYPE_FLOAT8_E4M3FN, 8, 1},
    {"F8_E8M0", TMETER_DTYPE_FLOAT8_E8M0FNU, 8, 1},
    {"F8_E4M3FNUZ", TMETER_DTYPE_FLOAT8_E4M3FNUZ, 8, 1},
    {"F8_E5M2FNUZ", TMETER_DTYPE_FLOAT8_E5M2FNUZ, 8, 1},
    {"I16", TMETER_DTYPE_INT16, 16, 1},
    {"U16", TMETER_DTYPE_UINT16, 16, 1},
    {"F16", TMETER_DTYPE_FLOAT16, 16, 1},
    {"BF16", TMETER_DTYPE_BFLOAT16, 16, 1},
    {"I32", TMETER_DTYPE_INT32, 32, 1},
    {"U32", TMETER_DTYPE_UINT32, 32, 1},
    {"F32", TMETER_DTYPE_FLOAT32, 32, 1},
    {"C64", TMETER_DTYPE_COMPLEX64, 64, 1},
    {"F64", TMETER_DTYPE_FLOAT64, 64, 1},
    {"I64", TMETER_DTYPE_INT64, 64, 1},
    {"U64", TMETER_DTYPE_UINT64, 64, 1},
}};

/// Null for an unknown name.
inline const ElementType* element_type(std::string_view name) {
  const auto it = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                               [&](const auto& t) { return t.name == name; });
  return it == kElementTypes.end() ? nullptr : it;
}

}  // namespace safetensors
