// The header of a safetensors file.
#pragma once
#include <tmeter/abi/dtype.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../common/json_util.hpp"

namespace safetensors {

// safetensors' names of element types (safetensors 0.8, src/tensor.rs) → those of torch.

struct ElementType {
  std::string_view name;
  int32_t dtype;  // TMETER_DTYPE_…; UNDEFINED if torch lacks the type
  int bits;       // of one element of the shape
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

// The header: a table of names, types, shapes and offsets before the raw
// bytes. Format: https://github.com/huggingface/safetensors#format
//
//   8 bytes   N, little-endian
//   N bytes   JSON: {"__metadata__": {text: text}, NAME: {"dtype", "shape", "data_offsets"}, …}
//   the rest  the elements of all tensors, without gaps

struct StoredTensor {
  std::string_view name;
  int32_t dtype = 0;
  /// The file's word for a type that torch lacks or counts otherwise: F4, F6_E2M3.
  std::string_view element;
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;  // bytes of the file
};

class Header {
 public:
  /// Whether the file begins with a plausible length and a '{'.
  static bool plausible(std::string_view file);

  /// Throws BadFile for every file that the reference implementation refuses.
  explicit Header(std::string_view file);
  Header(const Header&) = delete;  // the document owns the strings
  Header& operator=(const Header&) = delete;

  /// Tensors in the order of the file.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// "pt" if PyTorch wrote the file; empty if unknown.
  std::string_view format() const { return format_; }
  /// `__metadata__`: key and text.
  const std::vector<std::pair<std::string_view, std::string_view>>& metadata() const {
    return metadata_;
  }

 private:
  void read_metadata(loading::json::element metadata);
  StoredTensor read_tensor(loading::json::object fields, int64_t data, int64_t file_size) const;
  void check_layout(int64_t data, int64_t file_size) const;

  loading::json::document document_;
  std::vector<StoredTensor> tensors_;
  std::string_view format_;
  std::vector<std::pair<std::string_view, std::string_view>> metadata_;
};

}  // namespace safetensors
