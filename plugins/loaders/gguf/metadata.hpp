// The key-value pairs of a GGUF file. Values stay in the file; only their offsets and types are
// kept, so a vocabulary takes no memory.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <variant>
#include <vector>

#include "cursor.hpp"

namespace gguf {

/// The types of values (gguf.h, enum gguf_type).
enum class ValueType : int32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kText = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

/// One value. An integer beyond 63 bits is a double.
using Scalar = std::variant<std::string_view, int64_t, double, bool>;

struct Value {
  std::string_view key;
  ValueType type = ValueType::kUint8;  // for an array, of its items; kArray: they are arrays
  bool is_array = false;
  uint64_t length = 1;  // items
  size_t at = 0;        // offset of the first item
};

class Metadata {
 public:
  /// Reads `count` pairs. Throws BadFile.
  void read(Cursor& cursor, uint64_t count);

  /// In the order of the file.
  const std::vector<Value>& values() const { return values_; }
  const Value* find(std::string_view key) const;
  /// An integer that is not negative; nullopt if the key is missing. Throws BadFile for other
  /// values.
  std::optional<uint64_t> find_size(std::string_view key) const;
  /// Empty if the key is missing or has no text.
  std::string_view find_text(std::string_view key) const;

  /// The first `most` items of an array, or the single value. Empty for an array of arrays.
  std::vector<Scalar> items(const Value& value, uint64_t most) const;

 private:
  Value read_value(Cursor& cursor) const;

  std::optional<Cursor> file_;
  std::vector<Value> values_;
};

/// Adds the metadata to the graph, in the space "gguf". Long arrays (vocabularies) are cut to their
/// first items and long strings to 64 KiB. Arrays of arrays are left out.
void push_metadata(const Metadata& metadata, tmeter::GraphBuilder& graph);

}  // namespace gguf
