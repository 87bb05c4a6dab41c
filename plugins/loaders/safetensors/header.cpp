#include "header.hpp"

#include <algorithm>
#include <cstring>

#include "../common/json_text.hpp"
#include "../common/weight_tree.hpp"

namespace safetensors {
namespace {

using loading::BadFile;
using loading::in_quotes;
namespace json = loading::json;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference implementation

uint64_t length_of(std::string_view file) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);  // little-endian, like this machine
  return length;
}

std::string_view header_of(std::string_view file) {
  if (file.size() < kLengthBytes)
    throw BadFile("it has " + std::to_string(file.size()) +
                  " bytes, less than the length of a header");
  const auto length = length_of(file);
  const auto rest = file.size() - kLengthBytes;
  if (length > kMaxHeaderBytes || length > rest)
    throw BadFile("it claims a header of " + std::to_string(length) + " bytes; " +
                  (length > rest ? "the file has " + std::to_string(rest) + " after it"
                                 : "at most 100 MB are accepted") +
                  " (truncated?)");
  const auto header = file.substr(kLengthBytes, length);
  if (!header.starts_with('{')) throw BadFile("its header does not begin with '{'");
  return header;
}

json::object parse(std::string_view header, json::document& document) {
  return loading::within([] { return "its header"; },
                         [&] {
                           const auto error = loading::parse_json(header, false, document,
                                                                  loading::Dialect::kStrict);
                           return loading::as_object(loading::require_json(error, document));
                         });
}

int64_t as_size(json::element e) {
  const auto value = loading::as_integer(e);
  if (value < 0) throw BadFile("it holds the negative " + std::to_string(value));
  return value;
}

/// Bits of all elements; throws if the number exceeds 63 bits.
int64_t bits_of(const StoredTensor& t, const ElementType& type) {
  int64_t bits = type.bits;
  for (const auto d : t.dims)
    if (__builtin_mul_overflow(bits, d, &bits))
      throw BadFile("its shape has more elements than any file");
  return bits;
}

}  // namespace

bool Header::plausible(std::string_view file) {
  return file.size() > kLengthBytes && file[kLengthBytes] == '{' &&
         length_of(file) <= std::min<uint64_t>(kMaxHeaderBytes, file.size() - kLengthBytes);
}

Header::Header(std::string_view file) {
  const auto header = header_of(file);
  const auto data = static_cast<int64_t>(kLengthBytes + header.size());
  const auto file_size = static_cast<int64_t>(file.size());
  for (const auto field : parse(header, document_)) {
    if (field.key == "__metadata__") {
      read_metadata(field.value);
      continue;
    }
    loading::check_name(field.key);
    loading::within(
        [&] { return "tensor " + in_quotes(field.key); },
        [&] {
          tensors_.push_back(read_tensor(loading::as_object(field.value), data, file_size));
          tensors_.back().name = field.key;
        });
  }
  check_layout(data, file_size);
}

void Header::read_metadata(json::element metadata) {
  for (const auto field : loading::as_object(metadata)) {
    const auto text = loading::as_text(field.value);
    metadata_.emplace_back(field.key, text);
    if (field.key == "format") format_ = text;
  }
}

StoredTensor Header::read_tensor(json::object fields, int64_t data, int64_t file_size) const {
  StoredTensor t;
  const auto name = loading::text_member(fields, "dtype");
  const auto* type = element_type(name);
  if (!type) throw BadFile("it has the unknown element type " + in_quotes(name));
  for (const json::element d : loading::array_member(fields, "shape")) t.dims.push_back(as_size(d));
  const auto offsets = loading::array_member(fields, "data_offsets");
  if (offsets.size() != 2) throw BadFile("data_offsets does not have two numbers");
  t.begin = as_size(offsets.at(0).value());
  t.end = as_size(offsets.at(1).value());
  if (t.end < t.begin || t.end > file_size - data)
    throw BadFile("its bytes " + std::to_string(t.begin) + " to " + std::to_string(t.end) +
                  " are not in the file, which has " + std::to_string(file_size - data) +
                  " after its header (truncated?)");
  const int64_t bits = bits_of(t, *type);
  if (bits % 8 != 0 || bits / 8 != t.end - t.begin)
    throw BadFile("its shape needs " + std::to_string(bits / 8) + " bytes, its data_offsets hold " +
                  std::to_string(t.end - t.begin));
  t.begin += data;
  t.end += data;
  t.dtype = type->dtype;
  if (type->per_item != 1 || type->dtype == TMETER_DTYPE_UNDEFINED) t.element = type->name;
  return t;
}

/// Each byte after the header must belong to one tensor: readers disagree about files with bytes
/// between tensors or shared by two.
void Header::check_layout(int64_t data, int64_t file_size) const {
  std::vector<const StoredTensor*> by_place;
  for (const auto& t : tensors_) by_place.push_back(&t);
  std::sort(by_place.begin(), by_place.end(), [](auto* a, auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  int64_t end = data;
  for (const auto* t : by_place) {
    if (t->begin != end)
      throw BadFile("tensor " + in_quotes(t->name) +
                    (t->begin < end
                         ? " overlaps another one"
                         : " begins after a gap of " + std::to_string(t->begin - end) + " bytes"));
    end = t->end;
  }
  if (end != file_size)
    throw BadFile(std::to_string(file_size - end) +
                  " bytes after the last tensor belong to no tensor");
}

}  // namespace safetensors
