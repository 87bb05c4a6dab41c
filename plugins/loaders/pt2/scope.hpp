// Scope: the names of one graph (the model's, or a sub-graph's of a higher-order operator), what
// the file records about each, and the host value it stands for once something has defined it.
#pragma once
#include <span>

#include "name_map.hpp"
#include "plain_tensors.hpp"
#include "series.hpp"
#include "signature.hpp"
#include "symbols.hpp"
#include "text_store.hpp"

namespace pt2 {

/// What everything that builds needs; owned by the load.
struct Building {
  tmeter::GraphBuilder& graph;
  Symbols& symbols;
  Notes& notes;
  TextStore& texts;
};

/// Element type and sizes of a TensorMeta. `dims` is emptied first.
void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims);
tmeter::DType read_dtype(json::object meta);

/// The names of which somebody will want to know everything, as far as that takes anything: made
/// when it is first asked about.
class AskedFor {
 public:
  explicit AskedFor(const Signature& signature) : signature_(signature) {}
  bool contains(std::string_view name);

 private:
  const Signature& signature_;
  std::optional<NameMap<bool>> names_;
};

class Scope {
 public:
  /// Reads the `…_values` tables of a graph.
  Scope(Building& building, json::object graph);
  /// The same of a large graph, whose tensors come in pieces: what they are is kept in short, and
  /// in full for those whose tensor_meta will be asked for. There are few types and sizes; tensors
  /// that have the same have one description.
  Scope(Building& building, json::object graph, const Series& tensors, AskedFor& asked_for);

  /// Throws when nothing has defined the name yet: a cycle or a dangling reference.
  tmeter_id use(std::string_view name) const;
  /// Throws when the name is defined already.
  void define(std::string_view name, tmeter_id value);
  /// The same; `last` as in NameMap::find_next.
  void define(std::string_view name, tmeter_id value, uint32_t& last);
  /// A new value of the recorded type and sizes, defined as `name`.
  tmeter_id make(std::string_view name);
  bool is_defined(std::string_view name) const;

  // The same by the number of a name, which stays what it is.
  bool find_number(std::string_view name, uint32_t& number) const {
    const auto entry = slots_.find_entry(name);
    number = entry - 1;
    return entry != 0;
  }
  /// As NameMap::find_next: 0, or the number plus one.
  uint32_t find_next(std::string_view name, uint32_t& last) const {
    return slots_.find_next(name, last);
  }
  bool is_named(uint32_t number, std::string_view name) const {
    return number < slots_.entries().size() && slots_.entries()[number].name == name;
  }
  size_t names() const { return slots_.entries().size(); }
  std::string_view name_at(uint32_t number) const { return slots_.entries()[number].name; }
  /// The one of this number will soon be used, or made.
  __attribute__((always_inline)) void expect_at(uint32_t number) const {
    __builtin_prefetch(slots_.entries().data() + number, 1);
  }
  tmeter_id use_at(uint32_t number) const;
  tmeter_id make_at(uint32_t number);

  /// Whether a condition (as_bool, or a SymBool) holds for the present sizes; nothing when that
  /// depends on data.
  std::optional<bool> known_condition(json::element argument) const;
  /// What the graph records about a tensor under the present sizes. Views are good until the next call.
  struct Recorded {
    tmeter::DType dtype;
    std::span<const int64_t> sizes, strides;  // as the file has them: perhaps not as many of each
  };
  /// `last` as in NameMap::find_next. Throws when the file has none.
  Recorded recorded(std::string_view name, uint32_t& last) const;
  /// The recorded TensorMeta, until the next is asked for; throws when the file has none.
  json::object tensor_meta(std::string_view name) const;

 private:
  enum class Kind : uint8_t { kNone, kTensor, kInt, kBool, kFloat, kObject };
  /// How it is kept what the file records: as an element of the document, in short – type and
  /// sizes, or also what tensor_meta tells –, or as a text that is parsed again.
  enum class Form : uint8_t { kElement, kSizes, kAll, kText };
  struct Slot {
    Kind kind = Kind::kNone;
    Form form = Form::kElement;
    tmeter_id value = 0;
    uint32_t at = 0;  // in elements_, types_ or texts_
  };
  /// What many tensors are. In numbers_ from `first` on: sizes; in full also strides, offset, and
  /// whether there is a gradient.
  struct Type {
    int16_t dtype = 0;
    uint8_t rank = 0;
    bool is_checked = false;  // its sizes can be
    uint32_t first = 0;
  };
  void read_tables(json::object graph);
  void read_table(json::object graph, std::string_view key, Kind kind);
  void add(std::string_view name, Kind kind, json::element meta);
  void add_tensors(json::object table, AskedFor& asked_for);
  void add_tensors(const PlainTensors& plain, size_t pieces);
  uint32_t type_of(int64_t dtype, size_t rank, std::span<const int64_t> numbers);
  void add_tensor(std::string_view name, uint32_t hash, const Slot& slot);
  Slot shortened(json::object meta, bool in_full);
  bool read_rest(json::object meta, size_t rank);
  bool read_plain_list(json::object meta, std::string_view key);
  std::string long_form(const Slot& slot) const;
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
  NameMap<uint32_t> type_index_;  // by what they are, as bytes
  std::vector<int64_t> numbers_;
  std::vector<std::string_view> texts_;
  mutable json::parser again_;    // of texts
  std::vector<tmeter_dim> dims_;  // reused
  std::vector<int64_t> plain_;    // reused
  mutable std::vector<int64_t> asked_;  // what `recorded` gave last
  std::string key_;               // reused
};

}  // namespace pt2
