#include "core/analysis/coverage.hpp"

#include <algorithm>
#include <map>

namespace tmeter::core {
namespace {

/// What says whether a node is counted: its own figure, or that of the module call it is part of.
tmeter_number deciding(const Column& column, const Node& node) {
  const auto own = column.cell(TMETER_AXIS_NODE, node.index);
  if (own.kind != TMETER_NUMBER_IN_MODULE) return own;
  for (const ModuleCall* call = node.call; call; call = call->parent) {
    const auto figure = column.cell(TMETER_AXIS_MODULE_CALL, call->index);
    if (is_by_module(figure)) return figure;
  }
  return number_of_kind(TMETER_NUMBER_UNKNOWN);
}

}  // namespace

Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph) {
  Coverage out;
  const auto it = std::find_if(columns.begin(), columns.end(), [](const Column& c) {
    return (c.flags & TMETER_METRIC_COVERAGE) != 0;
  });
  if (it == columns.end()) return out;
  out.metric = it->id;
  std::map<std::string, uint64_t> unknown;
  for (const auto& node : graph.nodes()) {
    switch (deciding(*it, node).kind) {
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
