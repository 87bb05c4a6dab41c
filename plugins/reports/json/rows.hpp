// The sections of a report that grow with the model: one row per input, module, operator and
// tensor, written as they are made.
#pragma once
#include "values.hpp"

namespace json_report {

class RowWriter {
 public:
  RowWriter(Stream& stream, const tmeter::Report& report);

  void inputs();
  void outputs();
  void modules();
  void module_calls();
  void nodes();
  void tensors();

 private:
  template <class Items, class Row>
  void section(std::string_view name, const Items& items, Row&& row);
  struct Names {
    const char *values, *details;
  };
  template <class Name, class At>
  void named_values(const Names& names, size_t count, Name&& name, At&& at, bool with_origin);
  void value_members(const tmeter::Value& value, bool with_origin);
  void detail(std::string_view key, const Json& detail);
  std::string key_of(std::string_view name, size_t position);
  void enter(const tmeter::Module& module);
  std::string child_id(size_t level, size_t number) const;
  void module_row(const tmeter::Module& module);
  void node_row(const tmeter::Node& node);
  void tensor_row(const tmeter::Tensor& tensor);
  void attributes(const tmeter::Module& module);
  void arguments(const tmeter::Node& node);
  void results(const tmeter::Node& node);
  void module_path(const tmeter::Module& module);

  Stream& stream_;
  tmeter::Report report_;
  tmeter::Graph graph_;
  Values values_;
  ValueWriter value_writer_;
  struct Level {
    size_t index;  // of the module
    std::string id;
    size_t children;  // so far
  };
  std::vector<Level> branch_;           // from the root to the module being written
  std::vector<std::string_view> used_;  // names of the arguments or attributes written so far
  std::vector<int64_t> call_numbers_;   // by call index: 1 for the first call of a module
};

}  // namespace json_report
