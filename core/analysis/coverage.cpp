#include "core/analysis/coverage.hpp"

#include <algorithm>
#include <map>

namespace tmeter::core {

Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph) {
  Coverage out;
  const auto it = std::find_if(columns.begin(), columns.end(), [](const Column& c) {
    return (c.flags & TMETER_METRIC_COVERAGE) != 0;
  });
  if (it == columns.end()) return out;
  out.metric = it->id;
  std::map<std::string, uint64_t> unknown;
  for (const auto& node : graph.nodes()) {
    switch (it->cell(TMETER_AXIS_NODE, node.index).kind) {
      case TMETER_NUMBER_ZERO_BY_RULE:
        ++out.zero_by_rule;
        break;
      case TMETER_NUMBER_UNKNOWN:
        ++out.unknown, ++unknown[node.full_name()];
        break;
      default:
        ++out.counted;
    }
  }
  for (const auto& [op, nodes] : unknown) out.unknown_ops.push_back({op, nodes});
  std::stable_sort(out.unknown_ops.begin(), out.unknown_ops.end(),
                   [](const UnknownOp& a, const UnknownOp& b) { return a.nodes > b.nodes; });
  return out;
}

}  // namespace tmeter::core
