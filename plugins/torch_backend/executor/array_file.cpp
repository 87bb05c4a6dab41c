#include "executor/array_file.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <tmeter/cpp/base.hpp>
#include <tmeter/cpp/dtype.hpp>

namespace tmeter::torch_backend {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(TMETER_BAD_USAGE, path + " " + what);
}

struct TypeName {
  std::string_view name;
  int32_t dtype;
  int64_t bytes;
};

/// NumPy's type codes without the byte order. NumPy has no code for bfloat16.
constexpr std::array<TypeName, 14> kNumpy{{
    {"f4", TMETER_DTYPE_FLOAT32, 4},
    {"f8", TMETER_DTYPE_FLOAT64, 8},
    {"f2", TMETER_DTYPE_FLOAT16, 2},
    {"i8", TMETER_DTYPE_INT64, 8},
    {"i4", TMETER_DTYPE_INT32, 4},
    {"i2", TMETER_DTYPE_INT16, 2},
    {"i1", TMETER_DTYPE_INT8, 1},
    {"u1", TMETER_DTYPE_UINT8, 1},
    {"b1", TMETER_DTYPE_BOOL, 1},
    {"c8", TMETER_DTYPE_COMPLEX64, 8},
    {"c16", TMETER_DTYPE_COMPLEX128, 16},
    {"u2", TMETER_DTYPE_UINT16, 2},
    {"u4", TMETER_DTYPE_UINT32, 4},
    {"u8", TMETER_DTYPE_UINT64, 8},
}};
constexpr std::array<TypeName, 15> kSafetensors{{
    {"F32", TMETER_DTYPE_FLOAT32, 4},
    {"F64", TMETER_DTYPE_FLOAT64, 8},
    {"F16", TMETER_DTYPE_FLOAT16, 2},
    {"BF16", TMETER_DTYPE_BFLOAT16, 2},
    {"I64", TMETER_DTYPE_INT64, 8},
    {"I32", TMETER_DTYPE_INT32, 4},
    {"I16", TMETER_DTYPE_INT16, 2},
    {"I8", TMETER_DTYPE_INT8, 1},
    {"U8", TMETER_DTYPE_UINT8, 1},
    {"BOOL", TMETER_DTYPE_BOOL, 1},
    {"U16", TMETER_DTYPE_UINT16, 2},
    {"U32", TMETER_DTYPE_UINT32, 4},
    {"U64", TMETER_DTYPE_UINT64, 8},
    {"C64", TMETER_DTYPE_COMPLEX64, 8},
    {"F8_E4M3", TMETER_DTYPE_FLOAT8_E4M3FN, 1},
}};

template <size_t N>
const TypeName* find(const std::array<TypeName, N>& table, std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// The bytes of an array; -1 if they overflow.
int64_t bytes_of(const std::vector<int64_t>& sizes, int64_t item) {
  int64_t bytes = item;
  for (const auto n : sizes) {
    if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes)) return -1;
  }
  return bytes;
}

/// The text after 'key': in NumPy's header, which is a Python dictionary on one line.
std::string_view entry(std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return {};
  auto rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::vector<int64_t> numbers(std::string_view text, const std::string& path) {
  std::vector<int64_t> out;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,L"), text.size()));
    if (text.empty()) break;
    int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || n < 0)
      refuse(path, "is damaged: its header has an impossible shape");
    out.push_back(n);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return out;
}

std::string_view npy_header(std::string_view content, const std::string& path) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (!content.starts_with(kMagic) || content.size() < 12) refuse(path, "is not an .npy file");
  const bool first = content[6] == 1;  // version 1 has 2 bytes for the length, later ones 4
  uint32_t length = 0;
  std::memcpy(&length, content.data() + 8, first ? 2 : 4);
  const size_t at = first ? 10 : 12;
  if (length > content.size() - at) refuse(path, "is damaged: its header is cut off");
  return content.substr(at, length);
}

}  // namespace

std::vector<FileArray> read_npy(std::string_view content, const std::string& path) {
  const auto header = npy_header(content, path);
  auto type = entry(header, "descr");
  type = type.starts_with('\'') ? type.substr(1, type.find('\'', 1) - 1) : std::string_view();
  const bool big_endian = type.starts_with('>');
  const auto* element_type = type.size() > 1 ? find(kNumpy, type.substr(1)) : nullptr;
  if (!element_type || (big_endian && element_type->bytes > 1))
    refuse(path, "holds elements of the type '" + std::string(type) +
                     "', which tensors cannot have: only little-endian numbers and booleans");
  if (entry(header, "fortran_order").starts_with("True"))
    refuse(path, "is in Fortran order; save numpy.ascontiguousarray of it");
  const auto shape = entry(header, "shape");
  const auto end = shape.find(')');
  if (!shape.starts_with('(') || end == std::string_view::npos)
    refuse(path, "is damaged: its header has no shape");
  FileArray out{{}, element_type->dtype, numbers(shape.substr(1, end - 1), path), {}};
  const auto begin = static_cast<size_t>(header.data() - content.data()) + header.size();
  const auto bytes = bytes_of(out.sizes, element_type->bytes);
  if (bytes < 0 || static_cast<uint64_t>(bytes) > content.size() - begin)
    refuse(path, "is damaged: it ends before its last element");
  out.data = content.substr(begin, static_cast<size_t>(bytes));
  return {out};
}

namespace {

FileArray safetensors_array(std::string_view name, simdjson::dom::element e, std::string_view data,
                            const std::string& path) {
  const auto damaged = [&](const std::string& what) {
    refuse(path, "is damaged: " + what + " of '" + std::string(name) + "'");
  };
  std::string_view type;
  simdjson::dom::array shape, offsets;
  if (e["dtype"].get(type) || e["shape"].get(shape) || e["data_offsets"].get(offsets))
    damaged("the description");
  const auto* element_type = find(kSafetensors, type);
  if (!element_type)
    refuse(path, "holds '" + std::string(name) + "' of the unknown type " + std::string(type));
  FileArray out{std::string(name), element_type->dtype, {}, {}};
  for (const auto dim : shape) {
    int64_t n = -1;
    if (dim.get(n) || n < 0) damaged("the shape");
    out.sizes.push_back(n);
  }
  uint64_t begin = 0, end = 0;
  if (offsets.size() != 2 || offsets.at(0).get(begin) || offsets.at(1).get(end) || begin > end ||
      end > data.size() ||
      bytes_of(out.sizes, element_type->bytes) != static_cast<int64_t>(end - begin))
    damaged("the offset");
  out.data = data.substr(begin, end - begin);
  return out;
}

}  // namespace

std::vector<FileArray> read_safetensors(std::string_view content, const std::string& path) {
  uint64_t length = 0;
  if (content.size() >= sizeof length) std::memcpy(&length, content.data(), sizeof length);
  if (content.size() < sizeof length || length > content.size() - sizeof length)
    refuse(path, "is not a safetensors file");
  simdjson::dom::parser parser;
  simdjson::dom::object header;
  if (parser.parse(content.data() + sizeof length, length).get(header))
    refuse(path, "is not a safetensors file: its header is not JSON");
  const auto data = content.substr(sizeof length + length);
  std::vector<FileArray> out;
  for (const auto field : header) {
    if (field.key != "__metadata__")
      out.push_back(safetensors_array(field.key, field.value, data, path));
  }
  return out;
}

}  // namespace tmeter::torch_backend
