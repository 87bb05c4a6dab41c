// The parts of a finding as text.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace reports {

/// "param mem 97.49 MiB → 24.40 MiB"; empty when the report has no such metric.
std::string describe_change(const tmeter::Report& report, const tmeter_change& change);

/// The module path, operator or tensor that a finding is about; empty for the whole model.
std::string describe_target(const tmeter::Graph& graph, const tmeter_target& target);

}  // namespace reports
