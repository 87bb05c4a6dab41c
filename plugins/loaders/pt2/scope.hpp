// Scope: the names of one graph (the model's, or a sub-graph's of a higher-order operator), what
// the file records about each, and the host value it stands for once something has defined it.
#pragma once
#include "name_map.hpp"
#include "symbols.hpp"

namespace pt2 {

/// What everything that builds needs; owned by the load.
struct Building {
  tmeter::GraphBuilder& graph;
  Symbols& symbols;
  Notes& notes;
};

/// Element type and sizes of a TensorMeta. `dims` is emptied first.
void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims);
tmeter::DType read_dtype(json::object meta);

class Scope {
 public:
  /// Reads the `…_values` tables of a graph.
  Scope(Building& building, json::object graph);

  /// Throws when nothing has defined the name yet: a cycle or a dangling reference.
  tmeter_id use(std::string_view name) const;
  /// Throws when the name is defined already.
  void define(std::string_view name, tmeter_id value);
  /// A new value of the recorded type and sizes, defined as `name`.
  tmeter_id make(std::string_view name);
  bool is_defined(std::string_view name) const;
  /// Whether a condition (as_bool, or a SymBool) holds for the present sizes; nothing when that
  /// depends on data.
  std::optional<bool> known_condition(json::element argument) const;
  /// The recorded TensorMeta; throws when the file has none.
  json::object tensor_meta(std::string_view name) const;

 private:
  enum class Kind { kNone, kTensor, kInt, kBool, kFloat, kObject };
  struct Slot {
    Kind kind = Kind::kNone;
    tmeter_id value = 0;
    json::element meta;
  };
  void read_table(json::object graph, std::string_view key, Kind kind);
  void collect_sizes(const Slot& slot);
  tmeter_id new_value(const Slot& slot);
  tmeter_id new_float(json::element meta);

  Building& building_;
  NameMap<Slot> slots_;
  std::vector<tmeter_dim> dims_;  // reused
};

}  // namespace pt2
