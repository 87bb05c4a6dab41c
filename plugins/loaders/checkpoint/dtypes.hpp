// Element types as pickles name them: torch.float32 and, for memory, torch.FloatStorage
// (torch/storage.py, _dtype_to_storage_type_map, torch 2.15).
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <tmeter/cpp/dtype.hpp>

namespace checkpoint {

struct StorageType {
  std::string_view name;
  int32_t dtype;
};

/// UntypedStorage counts bytes; the tensor has the element type.
inline constexpr std::array<StorageType, 22> kStorageTypes{{
    {"DoubleStorage", TMETER_DTYPE_FLOAT64},
    {"FloatStorage", TMETER_DTYPE_FLOAT32},
    {"HalfStorage", TMETER_DTYPE_FLOAT16},
    {"BFloat16Storage", TMETER_DTYPE_BFLOAT16},
    {"LongStorage", TMETER_DTYPE_INT64},
    {"IntStorage", TMETER_DTYPE_INT32},
    {"ShortStorage", TMETER_DTYPE_INT16},
    {"CharStorage", TMETER_DTYPE_INT8},
    {"ByteStorage", TMETER_DTYPE_UINT8},
    {"BoolStorage", TMETER_DTYPE_BOOL},
    {"ComplexDoubleStorage", TMETER_DTYPE_COMPLEX128},
    {"ComplexFloatStorage", TMETER_DTYPE_COMPLEX64},
    {"QInt8Storage", TMETER_DTYPE_QINT8},
    {"QInt32Storage", TMETER_DTYPE_QINT32},
    {"QUInt8Storage", TMETER_DTYPE_QUINT8},
    {"QUInt4x2Storage", TMETER_DTYPE_QUINT4X2},
    {"QUInt2x4Storage", TMETER_DTYPE_QUINT2X4},
    {"UntypedStorage", TMETER_DTYPE_UINT8},
    {"_UntypedStorage", TMETER_DTYPE_UINT8},
    {"TypedStorage", TMETER_DTYPE_UINT8},
    {"_TypedStorage", TMETER_DTYPE_UINT8},
    {"StorageBase", TMETER_DTYPE_UINT8},
}};

/// "torch.FloatStorage", "torch.cuda.FloatStorage", "torch.storage.UntypedStorage"
inline std::optional<tmeter::DType> storage_dtype(std::string_view global) {
  const auto last = global.substr(global.rfind('.') + 1);
  if (!global.starts_with("torch.")) return std::nullopt;
  for (const auto& t : kStorageTypes)
    if (t.name == last) return tmeter::DType(t.dtype);
  return std::nullopt;
}

/// "torch.float32"; types unknown to this SDK are undefined.
inline tmeter::DType dtype_named(std::string_view global) {
  constexpr std::string_view kTorch = "torch.";
  return global.starts_with(kTorch) ? tmeter::DType::parse(global.substr(kTorch.size()))
                                    : tmeter::DType();
}

}  // namespace checkpoint
