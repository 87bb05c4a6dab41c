// The parts of a finding as text.
#pragma once
#include <map>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <utility>
#include <vector>

namespace reports {

/// "param mem 97.49 MiB → 24.40 MiB"; empty when the report has no such metric.
std::string describe_change(const tmeter::Report& report, const tmeter_change& change);

/// The module path, operator or tensor that a finding is about; empty for the whole model.
std::string describe_target(const tmeter::Graph& graph, const tmeter_target& target);

/// The findings of each row, by their places in the report. Safe from any thread.
class FindingsByRow {
 public:
  explicit FindingsByRow(const tmeter::Report& report);
  /// Those about the row itself, not about the whole model; in the order of the report.
  const std::vector<size_t>& of(int32_t axis, size_t index) const;

 private:
  std::map<std::pair<int32_t, size_t>, std::vector<size_t>> rows_;
};

/// Elements of the parameters among a node's arguments, each once; 0 without any.
int64_t parameters_of(const tmeter::Node& node);
/// Parameters and buffers among a node's arguments, those in lists included, each once.
std::vector<tmeter::Tensor> tensors_of(const tmeter::Node& node);

}  // namespace reports
