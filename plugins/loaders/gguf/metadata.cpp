#include "metadata.hpp"

#include <algorithm>
#include <string>
#include <tmeter/cpp/text_hash.hpp>
#include <tmeter/cpp/utf8.hpp>
#include <unordered_set>

namespace gguf {
namespace {

using loading::in_quotes;

constexpr uint64_t kMaxPairs = 100'000;
constexpr size_t kMaxKeyBytes = 65'535;  // docs/gguf.md of ggml
constexpr int kMaxDepth = 8;

/// Bytes of an item; 0 for strings and arrays, which have no common size.
size_t size_of(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
    case ValueType::kInt8:
    case ValueType::kBool:
      return 1;
    case ValueType::kUint16:
    case ValueType::kInt16:
      return 2;
    case ValueType::kUint32:
    case ValueType::kInt32:
    case ValueType::kFloat32:
      return 4;
    case ValueType::kUint64:
    case ValueType::kInt64:
    case ValueType::kFloat64:
      return 8;
    case ValueType::kText:
    case ValueType::kArray:
      return 0;
  }
  throw BadFile("the value has the unknown type " + std::to_string(static_cast<int32_t>(type)));
}

ValueType read_type(Cursor& cursor) {
  const auto type = static_cast<ValueType>(cursor.number<int32_t>());
  size_of(type);  // throws for an unknown one
  return type;
}

void skip_items(Cursor& cursor, ValueType type, uint64_t count, int depth) {
  if (const auto size = size_of(type)) return cursor.skip(count, size);
  const size_t least = type == ValueType::kText ? cursor.count_size() : 4 + cursor.count_size();
  if (count > cursor.left() / least)
    throw BadFile("an array of " + std::to_string(count) + " items is claimed; " +
                  cursor.the_rest());
  if (depth > kMaxDepth) throw BadFile("its arrays are nested more than 8 deep");
  for (uint64_t i = 0; i < count; ++i) {
    if (type == ValueType::kText) {
      cursor.text();
    } else {
      const auto items = read_type(cursor);
      const auto length = cursor.count();
      skip_items(cursor, items, length, depth + 1);
    }
  }
}

Scalar integer(uint64_t value) {
  if (value > INT64_MAX) return static_cast<double>(value);
  return static_cast<int64_t>(value);
}

Scalar read_scalar(Cursor& cursor, ValueType type) {
  switch (type) {
    case ValueType::kUint8:
      return integer(cursor.number<uint8_t>());
    case ValueType::kInt8:
      return int64_t{cursor.number<int8_t>()};
    case ValueType::kUint16:
      return integer(cursor.number<uint16_t>());
    case ValueType::kInt16:
      return int64_t{cursor.number<int16_t>()};
    case ValueType::kUint32:
      return integer(cursor.number<uint32_t>());
    case ValueType::kInt32:
      return int64_t{cursor.number<int32_t>()};
    case ValueType::kFloat32:
      return double{cursor.number<float>()};
    case ValueType::kBool:
      return cursor.number<uint8_t>() != 0;
    case ValueType::kText:
      return cursor.text();
    case ValueType::kUint64:
      return integer(cursor.number<uint64_t>());
    case ValueType::kInt64:
      return cursor.number<int64_t>();
    case ValueType::kFloat64:
      return cursor.number<double>();
    case ValueType::kArray:
      break;
  }
  throw BadFile("an array is not a single value");
}

}  // namespace

void Metadata::read(Cursor& cursor, uint64_t count) {
  const size_t least = cursor.count_size() + 1 + 4 + 1;
  if (count > cursor.left() / least)
    throw BadFile("it claims " + std::to_string(count) + " metadata pairs; " + cursor.the_rest());
  if (count > kMaxPairs)
    throw BadFile("it has " + std::to_string(count) +
                  " metadata pairs; tmeter reads at most 100,000");
  std::unordered_set<std::string_view, tmeter::TextHash> keys;
  for (uint64_t i = 0; i < count; ++i) {
    const auto key = loading::within([&] { return "metadata pair " + std::to_string(i); },
                                     [&] { return cursor.text(); });
    if (key.empty() || key.size() > kMaxKeyBytes || !loading::is_utf8(key))
      throw BadFile("metadata pair " + std::to_string(i) +
                    " has no key of 1 to 65,535 bytes of UTF-8");
    if (!keys.insert(key).second) throw BadFile("the key " + in_quotes(key) + " occurs twice");
    loading::within([&] { return "key " + in_quotes(key); },
                    [&] { values_.push_back(read_value(cursor)); });
    values_.back().key = key;
  }
  file_ = cursor;
}

Value Metadata::read_value(Cursor& cursor) const {
  Value v;
  v.type = read_type(cursor);
  v.is_array = v.type == ValueType::kArray;
  if (v.is_array) {
    v.type = read_type(cursor);
    v.length = cursor.count();
  }
  v.at = cursor.at();
  skip_items(cursor, v.type, v.length, 1);
  return v;
}

const Value* Metadata::find(std::string_view key) const {
  const auto it =
      std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.key == key; });
  return it == values_.end() ? nullptr : &*it;
}

std::optional<uint64_t> Metadata::find_size(std::string_view key) const {
  const auto* value = find(key);
  if (!value) return std::nullopt;
  const auto items = value->is_array ? std::vector<Scalar>() : this->items(*value, 1);
  if (items.empty() || !std::holds_alternative<int64_t>(items[0]) ||
      std::get<int64_t>(items[0]) < 0)
    throw BadFile("key " + in_quotes(key) + " is not an integer of 0 or more");
  return static_cast<uint64_t>(std::get<int64_t>(items[0]));
}

std::string_view Metadata::find_text(std::string_view key) const {
  const auto* value = find(key);
  if (!value || value->is_array || value->type != ValueType::kText) return {};
  return std::get<std::string_view>(items(*value, 1)[0]);
}

std::vector<Scalar> Metadata::items(const Value& value, uint64_t most) const {
  std::vector<Scalar> out;
  if (value.type == ValueType::kArray) return out;
  Cursor cursor = *file_;
  cursor.go_to(value.at);
  for (uint64_t i = 0; i < std::min(value.length, most); ++i)
    out.push_back(read_scalar(cursor, value.type));
  return out;
}

namespace {

constexpr std::string_view kSpace = "gguf";
// Sizes per layer are kept whole; a vocabulary is not.
constexpr uint64_t kMaxWholeNumbers = 2'000, kMaxWholeTexts = 100;
constexpr uint64_t kItemsOfLongArrays = 8;
constexpr size_t kMaxTextBytes = 64 * 1024;

/// The first 64 KiB of `text`, with U+FFFD for bytes that are not UTF-8.
std::string clean(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size() && out.size() < kMaxTextBytes) {
    const auto [code, bytes] = tmeter::decode_utf8(text.substr(at));
    out += code == tmeter::kInvalidUtf8 ? "\uFFFD" : text.substr(at, bytes);
    at += bytes;
  }
  return at < text.size() ? out + "…" : out;
}

uint64_t kept(const Value& value) {
  const auto most = value.type == ValueType::kText ? kMaxWholeTexts : kMaxWholeNumbers;
  return value.length <= most ? value.length : kItemsOfLongArrays;
}

template <class T>
std::vector<T> all_as(const std::vector<Scalar>& items) {
  std::vector<T> out;
  for (const auto& item : items)
    out.push_back(std::visit(
        [](const auto& x) {
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::string_view>)
            return T{};
          else
            return static_cast<T>(x);
        },
        item));
  return out;
}

template <class T>
bool any_is(const std::vector<Scalar>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Scalar& s) { return std::holds_alternative<T>(s); });
}

void push_array(const Value& v, const std::vector<Scalar>& items, tmeter::GraphBuilder& graph) {
  const auto length = static_cast<int64_t>(v.length);
  switch (v.type) {
    case ValueType::kText: {
      std::vector<std::string> texts;
      for (const auto& item : items) texts.push_back(clean(std::get<std::string_view>(item)));
      std::vector<tmeter_str> views;
      for (const auto& text : texts) views.push_back(tmeter::to_abi(text));
      return graph.metadata(kSpace, v.key, std::span<const tmeter_str>(views), length);
    }
    case ValueType::kBool:
      return graph.metadata_bools(kSpace, v.key, all_as<int64_t>(items), length);
    case ValueType::kFloat32:
    case ValueType::kFloat64:
      return graph.metadata(kSpace, v.key, std::span<const double>(all_as<double>(items)), length);
    default:
      if (any_is<double>(items))  // beyond 63 bits
        return graph.metadata(kSpace, v.key, std::span<const double>(all_as<double>(items)),
                              length);
      return graph.metadata(kSpace, v.key, std::span<const int64_t>(all_as<int64_t>(items)),
                            length);
  }
}

void push_scalar(std::string_view key, const Scalar& scalar, tmeter::GraphBuilder& graph) {
  if (const auto* text = std::get_if<std::string_view>(&scalar))
    return graph.metadata(kSpace, key, std::string_view(clean(*text)));
  if (const auto* i = std::get_if<int64_t>(&scalar)) return graph.metadata(kSpace, key, *i);
  if (const auto* x = std::get_if<double>(&scalar)) return graph.metadata(kSpace, key, *x);
  graph.metadata(kSpace, key, std::get<bool>(scalar));
}

}  // namespace

void push_metadata(const Metadata& metadata, tmeter::GraphBuilder& graph) {
  for (const auto& v : metadata.values()) {
    if (v.type == ValueType::kArray) continue;
    const auto items = metadata.items(v, kept(v));
    if (v.is_array) {
      push_array(v, items, graph);
    } else {
      push_scalar(v.key, items[0], graph);
    }
  }
}

}  // namespace gguf
