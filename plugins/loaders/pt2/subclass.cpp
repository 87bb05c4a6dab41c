#include "subclass.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace pt2 {
namespace {

struct Class {
  /// The class as the pickle's opcode GLOBAL writes it: module, line feed, name, line feed.
  std::string_view name;
  const char* encoding;
};
// torchao 0.18: quantization/quantize_/workflows, prototype/mx_formats; the first, of its older
// versions.
constexpr std::array<Class, 8> kClasses{{{"AffineQuantizedTensor", "torchao.affine"},
                                         {"IntxUnpackedToInt8Tensor", "torchao.intx"},
                                         {"Int8Tensor", "torchao.int8"},
                                         {"Int4TilePackedTo4dTensor", "torchao.int4"},
                                         {"Int4Tensor", "torchao.int4"},
                                         {"Float8Tensor", "torchao.float8"},
                                         {"NVFP4Tensor", "torchao.nvfp4"},
                                         {"MXTensor", "torchao.mx"}}};
constexpr size_t kPickleBytes = 64 << 10;  // the pickle comes first

// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.12 and 4.3.16
constexpr std::string_view kEnd("PK\5\6", 4), kEntry("PK\1\2", 4);
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kMaxEndBytes = kEndBytes + 65'535;

template <class T>
T number(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The sizes of the entries in the folder "data/"; empty for a directory that is damaged or of 64
/// bits.
std::optional<int64_t> bytes_of_data(std::string_view zip) {
  const auto tail = zip.substr(zip.size() - std::min(zip.size(), kMaxEndBytes));
  const auto found = tail.rfind(kEnd);
  if (found == tail.npos || tail.size() - found < kEndBytes) return std::nullopt;
  const auto end = tail.substr(found);
  const auto count = number<uint16_t>(end, 10);
  auto at = size_t{number<uint32_t>(end, 16)};
  int64_t sum = 0;
  for (uint16_t i = 0; i < count; ++i) {
    if (at > zip.size() || zip.size() - at < kEntryBytes || zip.substr(at, 4) != kEntry)
      return std::nullopt;
    const auto entry = zip.substr(at);
    const auto size = number<uint32_t>(entry, 24);
    const auto name_bytes = size_t{number<uint16_t>(entry, 28)};
    const auto rest = size_t{number<uint16_t>(entry, 30)} + number<uint16_t>(entry, 32);
    if (entry.size() - kEntryBytes < name_bytes || size == UINT32_MAX) return std::nullopt;
    const auto name = entry.substr(kEntryBytes, name_bytes);
    const auto slash = name.find('/');
    if (slash != name.npos && name.substr(slash + 1).starts_with("data/")) sum += size;
    at += kEntryBytes + name_bytes + rest;
  }
  return sum;
}

}  // namespace

Subclass subclass_in(std::string_view record) {
  Subclass s{"torch.subclass"};
  const auto pickle = record.substr(0, kPickleBytes);
  const auto is_named = [&](const Class& c) {
    const auto at = pickle.find(c.name);
    return at != pickle.npos && at > 0 && at + c.name.size() < pickle.size() &&
           pickle[at - 1] == '\n' && pickle[at + c.name.size()] == '\n';
  };
  const auto it = std::find_if(kClasses.begin(), kClasses.end(), is_named);
  if (it != kClasses.end()) s.encoding = it->encoding;
  s.bytes = bytes_of_data(record).value_or(0);
  return s;
}

}  // namespace pt2
