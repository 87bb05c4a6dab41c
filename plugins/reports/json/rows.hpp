// The sections of a report that grow with the model: one row per input, module, operator and
// tensor.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../common/describe.hpp"
#include "values.hpp"

namespace json_report {

class RowWriter {
 public:
  RowWriter(Stream& stream, const tmeter::Report& report);
  ~RowWriter();

  void inputs();
  void outputs();
  void modules();
  void module_calls();
  void nodes();
  void tensors();

 private:
  template <class Item>
  using Row = void (RowWriter::*)(size_t, const Item&);
  struct Makers;
  /// Look-ups that all writers of a report share.
  struct Lookup {
    explicit Lookup(const tmeter::Report& report);
    std::vector<size_t> calls;     // by module call: 1 for the first of its module
    std::vector<size_t> children;  // by module: 1 for the first child of its parent
    reports::FindingsByRow findings;
  };
  /// Writes the same report elsewhere.
  RowWriter(const RowWriter& like, Stream& stream);
  RowWriter(const RowWriter& like) = delete;
  template <class Items, class Write>
  void section(std::string_view name, const Items& items, Write&& write);
  template <class Items, class Item>
  void large_section(std::string_view name, const Items& items, Row<Item> row);
  template <class Items, class Item>
  void write_blocks(const Items& items, size_t block_rows, Row<Item> row);
  template <class Items, class Write>
  void write_rows(const Items& items, size_t begin, size_t end, Write&& write);
  struct Names {
    const char *values, *details;
  };
  template <class Name, class At>
  void named_values(const Names& names, size_t count, Name&& name, At&& at, bool with_origin);
  void value_members(const tmeter::Value& value, bool with_origin);
  /// Notes the name; false if it was noted before.
  bool is_new(std::string_view name);
  /// Valid until the next call.
  std::string_view key_of(std::string_view name, size_t position);
  void enter(const tmeter::Module& module);
  void push(const tmeter::Module& module);
  std::string child_id(size_t level, size_t number) const;
  void module_row(size_t i, const tmeter::Module& module);
  void module_call_row(size_t i, const tmeter::ModuleCall& call);
  void node_row(size_t i, const tmeter::Node& node);
  void encoding(const tmeter::Tensor& tensor);
  void tensor_row(size_t i, const tmeter::Tensor& tensor);
  void attributes(const tmeter::Module& module);
  void arguments(const tmeter::Node& node);
  void results(const tmeter::Node& node);
  /// Places in the list "findings".
  void findings(int32_t axis, size_t index);
  void module_path(const tmeter::Module& module);

  Stream& stream_;
  tmeter::Report report_;
  tmeter::Graph graph_;
  Values values_;
  ValueWriter value_writer_;
  bool calls_have_values_;  // some metric states them
  std::shared_ptr<const Lookup> lookup_;
  struct Level {
    size_t index;  // index of the module
    std::string id;
  };
  std::vector<Level> branch_;             // from the root to the module being written
  std::vector<std::string_view> used_;    // names of the arguments or attributes written so far
  std::set<std::string_view> many_used_;  // used names, once there are many
  std::string numbered_;                  // a key that differs from them
  std::unique_ptr<Makers> makers_;        // used for many rows
};

}  // namespace json_report
