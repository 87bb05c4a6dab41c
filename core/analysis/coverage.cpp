#include "core/analysis/coverage.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// The value that decides whether a node is counted: its own, or that of an answered call around it.
tmeter_number deciding(const Column& column, const Node& node) {
  const auto own = column.cell(TMETER_AXIS_NODE, node.index);
  if (own.kind != TMETER_NUMBER_IN_MODULE) return own;
  for (const ModuleCall* call = node.call; call; call = call->parent) {
    const auto figure = column.cell(TMETER_AXIS_MODULE_CALL, call->index);
    if (is_by_module(figure)) return figure;
  }
  return number_of_kind(TMETER_NUMBER_UNKNOWN);
}

using Missing = std::map<std::string, uint64_t>;  // operator → nodes

/// Operators for which the metric has no value.
Missing missing_in(const Column& column, const Graph& graph) {
  Missing out;
  for (const auto& node : graph.nodes()) {
    const auto kind = deciding(column, node).kind;
    if (kind == TMETER_NUMBER_UNKNOWN || kind == TMETER_NUMBER_UNAVAILABLE) ++out[node.full_name()];
  }
  return out;
}

/// "aten::foo ×3, aten::bar ×1 and 4 more operators"
std::string named(const Missing& missing) {
  constexpr size_t kNamed = 8;
  std::vector<std::pair<std::string, uint64_t>> ops(missing.begin(), missing.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (size_t i = 0; i < std::min(kNamed, ops.size()); ++i)
    out += (i ? ", " : "") + printable(ops[i].first) + " ×" + std::to_string(ops[i].second);
  const auto more = ops.size() - std::min(kNamed, ops.size());
  return more ? out + " and " + std::to_string(more) + " more operators" : out;
}

}  // namespace

std::vector<std::string> omissions(const std::vector<Column>& columns, const Graph& graph,
                                   const Coverage& coverage) {
  Missing told;
  for (const auto& u : coverage.unknown_ops) told[u.op] = u.nodes;
  std::map<std::string, std::string> metrics;  // grouped by the omitted operators
  for (const auto& c : columns) {
    if (c.axis != TMETER_AXIS_NODE || !is_partial(c.cell(TMETER_AXIS_MODEL, 0))) continue;
    const auto missing = missing_in(c, graph);
    if (missing.empty() || missing == told) continue;
    auto& ids = metrics[named(missing)];
    ids += (ids.empty() ? "" : ", ") + c.id;
  }
  std::vector<std::string> out;
  for (const auto& [ops, ids] : metrics) {
    const bool one = ids.find(',') == std::string::npos;
    out.push_back(ids + (one ? " leaves out " : " leave out ") + ops + ", for which " +
                  (one ? "it has" : "they have") + " no figure");
  }
  return out;
}

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
