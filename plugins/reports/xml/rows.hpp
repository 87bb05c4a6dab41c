// Cells, values of the graph, and the long sections as elements.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "../common/cells.hpp"
#include "../common/describe.hpp"
#include "stream.hpp"

namespace xml_report {

// Cells, tensors and values of the graph as elements.

/// The word of a status in the JSON report, with hyphens, as XML's attributes have them.
std::string hyphened(std::string_view status);

/// <figure metric="macs" value="118013952"/>. A cell that is not a plain number has a status, and a
/// value only if it is zero by rule or a lower bound. Nothing for cells that do not apply.
void write_cell(Stream& stream, const tmeter::Metric& metric, const tmeter::Cell& cell);

/// dtype="float32" shape="1 3 224 224" symbolic-shape="batch 3 224 224"
void write_tensor_attributes(Stream& stream, const tmeter::Value& value);

/// <tensor …/>, <int>5</int>, <list>…</list> and so on. With `with_origin`, tensors state their
/// origin: node (index), tensor (name) or input (name).
class ValueWriter {
 public:
  explicit ValueWriter(const tmeter::Graph& graph);
  void write(Stream& stream, const tmeter::Value& value, bool with_origin) const;

 private:
  void write_tensor(Stream& stream, const tmeter::Value& value, bool with_origin) const;
  std::unordered_map<const tmeter_value*, std::string> inputs_;
};

/// "1 3 224 224": xs:list of numbers.
std::string spaced(const tmeter::Shape& shape);

// The long sections: inputs, modules, nodes and tensors, an element each.

class RowWriter {
 public:
  RowWriter(Stream& stream, const tmeter::Report& report);
  void inputs();
  void outputs();
  void modules();
  void nodes();
  void tensors();

 private:
  void module_row(const tmeter::Module& module);
  void node_row(const tmeter::Node& node);
  void tensor_row(const tmeter::Tensor& tensor);
  void cells(int32_t axis, size_t index);
  /// An attribute: places in the list of findings.
  void findings(int32_t axis, size_t index);

  Stream& stream_;
  const tmeter::Report& report_;
  const tmeter::Graph graph_;
  const std::vector<tmeter::Metric> metrics_;
  const ValueWriter values_;
  const std::vector<std::string> ids_;
  const reports::FindingsByRow findings_;
};

}  // namespace xml_report
