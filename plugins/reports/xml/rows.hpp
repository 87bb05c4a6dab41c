// The long sections: inputs, modules, nodes and tensors, an element each.
#pragma once
#include <string>
#include <vector>

#include "../common/findings.hpp"
#include "values.hpp"

namespace xml_report {

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
  void figures(int32_t axis, size_t index);
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
