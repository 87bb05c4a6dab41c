// Scope: the names of one graph (the model's, or a sub-graph's of a higher-order operator), the
// description that the file records for each, and its host value once something has defined it.
#pragma once
#include <span>

#include "building.hpp"
#include "document.hpp"
#include "name_map.hpp"
#include "signature.hpp"
#include "tensor_meta.hpp"

namespace pt2 {

class Scope {
 public:
  /// Reads the `…_values` tables of a graph.
  Scope(Building& building, json::object graph);
  /// The same with `tensor_values` in pieces.
  Scope(Building& building, json::object graph, const ChunkedArray& tensors);

  /// Throws if nothing has defined the name yet (a cycle or a dangling reference).
  tmeter_id use(std::string_view name) const;
  /// Throws if the name is already defined.
  void define(std::string_view name, tmeter_id value);
  /// The same; `last` as in NameMap::find_next.
  void define(std::string_view name, tmeter_id value, uint32_t& last);
  /// Defines `name` as a new value of the recorded type and sizes.
  tmeter_id make(std::string_view name);
  bool is_defined(std::string_view name) const;

  // Names by number; a number never changes.
  /// Like NameMap::find_next: 0, or the number plus one.
  uint32_t find_next(std::string_view name, uint32_t& last) const {
    return slots_.find_next(name, last);
  }
  bool is_named(uint32_t number, std::string_view name) const {
    return number < slots_.entries().size() && slots_.entries()[number].name == name;
  }
  size_t names() const { return slots_.entries().size(); }
  std::string_view name_at(uint32_t number) const { return slots_.entries()[number].name; }
  tmeter_id use_at(uint32_t number) const;
  tmeter_id make_at(uint32_t number);

  /// Whether a condition (as_bool or a SymBool) holds for the present sizes; none if it depends on
  /// data.
  std::optional<bool> condition_value(json::element argument) const;
  /// The recorded description of a tensor under the present sizes. Valid until the next call.
  struct Recorded {
    tmeter::DType dtype;
    std::span<const int64_t> sizes, strides;  // as in the file, which may have different numbers
  };
  /// `last` as in NameMap::find_next. Throws if the file has none.
  Recorded recorded(std::string_view name, uint32_t& last) const;
  /// The recorded size or condition, valid until the next call; none if the name is something else.
  std::optional<json::element> size_meta(std::string_view name) const;
  /// The recorded TensorMeta, valid until the next call. Throws if the file has none.
  json::object tensor_meta(std::string_view name) const;

 private:
  enum class Kind : uint8_t { kNone, kTensor, kInt, kBool, kFloat, kObject };
  /// How a description is stored: as an element of the document, as one of types_, or as a text
  /// that is parsed again.
  enum class Form : uint8_t { kElement, kFixed, kText };
  struct Slot {
    Kind kind = Kind::kNone;
    Form form = Form::kElement;
    tmeter_id value = 0;
    uint32_t at = 0;  // in elements_, types_ or texts_
  };
  /// A TensorMeta without symbols. A graph has few different ones, shared by its tensors.
  struct Type {
    FixedTensorMeta meta;
    bool is_checked = false;  // its sizes are possible
  };
  void read_tables(json::object graph);
  void read_table(json::object graph, std::string_view key, Kind kind);
  void add(std::string_view name, Kind kind, json::element meta);
  void add_tensors(json::object table, bool lasting, size_t pieces);
  void add_tensor(std::string_view name, json::element meta, bool lasting);
  uint32_t type_of(const FixedTensorMeta& meta);
  static std::string json_of(const FixedTensorMeta& meta);
  json::element meta_of(const Slot& slot) const;
  tmeter_id tensor_of(const Slot& slot);
  void collect_sizes(Kind kind, json::element meta);
  static tmeter_id used(const Slot* slot, std::string_view name);
  tmeter_id made(Slot* slot, std::string_view name);
  tmeter_id new_value(const Slot& slot);
  tmeter_id new_float(json::element meta);

  Building& building_;
  NameMap<Slot> slots_;
  std::vector<json::element> elements_;
  std::vector<Type> types_;
  NameMap<uint32_t> type_index_;  // key: their numbers as bytes
  std::vector<std::string_view> texts_;
  mutable json::parser parser_;            // for texts_
  mutable std::vector<int64_t> recorded_;  // the latest result of `recorded`
  // Reused:
  std::vector<tmeter_dim> dims_;
  FixedTensorMeta meta_;
  std::string key_;
};

}  // namespace pt2
