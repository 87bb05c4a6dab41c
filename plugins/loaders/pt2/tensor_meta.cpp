#include "tensor_meta.hpp"

namespace pt2 {
namespace {

constexpr size_t kMaxRank = 64;

/// {"as_int": 8}
bool fixed_number(json::element size, int64_t& number) {
  json::object object;
  if (size.get(object) != simdjson::SUCCESS || object.size() != 1) return false;
  const auto field = *object.begin();
  return is(field.key, "as_int") && field.value.get(number) == simdjson::SUCCESS;
}

bool fixed_numbers(json::element list, std::vector<int64_t>& numbers) {
  json::array items;
  if (list.get(items) != simdjson::SUCCESS || items.size() > kMaxRank) return false;
  for (const json::element item : items)
    if (!fixed_number(item, numbers.emplace_back())) return false;
  return true;
}

bool fixed_dtype(json::element element, int16_t& dtype) {
  int64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS || number < 0 || number > INT16_MAX) return false;
  dtype = static_cast<int16_t>(number);
  return true;
}

}  // namespace

bool read_fixed(json::object meta, FixedTensorMeta& out) {
  out.sizes.clear();
  out.strides.clear();
  int found = 0;
  const auto read = [&](bool success) { return found += success, success; };
  for (const auto field : meta) {
    if (is(field.key, "dtype")) {
      if (!read(fixed_dtype(field.value, out.dtype))) return false;
    } else if (is(field.key, "sizes")) {
      if (!read(fixed_numbers(field.value, out.sizes))) return false;
    } else if (is(field.key, "strides")) {
      if (!read(fixed_numbers(field.value, out.strides))) return false;
    } else if (is(field.key, "storage_offset")) {
      if (!read(fixed_number(field.value, out.storage_offset))) return false;
    } else if (is(field.key, "requires_grad")) {
      if (!read(field.value.get(out.requires_grad) == simdjson::SUCCESS)) return false;
    }
  }
  return found == 5 && out.sizes.size() == out.strides.size();
}

void check_shape(std::span<const tmeter_dim> dims) {
  if (dims.size() > kMaxRank)
    throw BadFile("it has " + std::to_string(dims.size()) + " sizes; at most 64 are accepted");
  int64_t bytes = 16;  // bytes of the widest element
  for (const auto& d : dims) {
    if (d.value < 0) throw BadFile("it has the negative size " + std::to_string(d.value));
    if (!__builtin_mul_overflow(bytes, d.value, &bytes)) continue;
    std::string shape;
    for (const auto& each : dims) shape += (shape.empty() ? "" : ", ") + std::to_string(each.value);
    throw BadFile("its size exceeds 2^63 bytes, with the shape [" + shape + "]");
  }
}

void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims) {
  dims.clear();
  for (const json::element size : array_member(meta, "sizes")) dims.push_back(symbols.dim(size));
  check_shape(dims);
}

tmeter::DType read_dtype(json::object meta) {
  return scalar_type(read_member(meta, "dtype", as_integer));
}

}  // namespace pt2
