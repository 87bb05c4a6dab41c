// Cells, tensors and values of the graph as elements.
#pragma once
#include <unordered_map>
#include <vector>

#include "../common/cells.hpp"
#include "stream.hpp"

namespace xml_report {

/// The word of a status in the JSON report, with hyphens as in XML's attributes.
std::string hyphened(std::string_view status);

/// <figure metric="macs" value="118013952"/>. A cell that is not a plain number has a status, and a
/// value only if it is zero by rule or a lower bound. Nothing for cells that do not apply.
void write_figure(Stream& stream, const tmeter::Metric& metric, const tmeter::Cell& cell);

/// dtype="float32" shape="1 3 224 224" symbolic-shape="batch 3 224 224"
void write_tensor_attributes(Stream& stream, const tmeter::Value& value);

/// <tensor …/>, <int>5</int>, <list>…</list> and so on. With their origin tensors say where they
/// are from: node (index), tensor (name) or input (name).
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

}  // namespace xml_report
