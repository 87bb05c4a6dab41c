#include "core/analysis/columns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "core/analysis/emission_rules.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

Column make_column(const tmeter_metric_desc& d, const std::string& plugin) {
  Column c;
  c.id = str(d.id);
  c.title = str(d.title);
  c.unit = str(d.unit);
  c.weight = str(d.weight);
  c.convention = str(d.convention);
  c.description = str(d.description);
  c.plugin = plugin;
  c.flags = d.flags;
  c.unit_kind = d.unit_kind;
  c.axis = d.axis;
  c.aggregation = d.aggregation;
  c.better = d.better;
  return c;
}

/// Marks a column of a failed plugin: every cell is unavailable, and the provenance has the reason.
void make_unavailable(Column& c, const std::string& why, const Graph& graph) {
  c.flags &= ~static_cast<uint32_t>(TMETER_METRIC_COVERAGE);
  c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
  c.provenance_text = why;
  c.failed = true;
  const std::array<int32_t, 4> axes{c.axis, TMETER_AXIS_MODULE_CALL, TMETER_AXIS_MODULE,
                                    TMETER_AXIS_MODEL};
  for (const auto axis : axes) {
    c.cells[static_cast<size_t>(axis)].assign(axis_size(graph, axis),
                                              number_of_kind(TMETER_NUMBER_UNAVAILABLE));
  }
}

using ById = std::unordered_map<std::string_view, const Column*, TextHash>;

void require_valid_column(const Column& added, const ById& others) {
  if (const auto other = others.find(added.id); other != others.end()) {
    const auto ids = std::minmax(other->second->plugin, added.plugin);
    throw Error(ErrorKind::kPlugin, "plugins " + ids.first + " and " + ids.second +
                                        " both define metric '" + added.id +
                                        "'; leave one out with --plugins=-" + ids.second);
  }
  if (added.id.empty() || added.convention.empty() || added.axis < 0 ||
      added.axis >= static_cast<int32_t>(kAxisCount)) {
    throw Error(ErrorKind::kPlugin,
                "plugin " + added.plugin + ": metric '" + added.id +
                    "' lacks an id, a known axis or its mandatory convention text");
  }
}

/// A weighted mean needs a weight of the same axis.
void require_weight(const Column& mean, const ById& columns) {
  if (mean.aggregation != TMETER_AGGREGATE_WEIGHTED_MEAN || mean.failed) return;
  const auto weight = columns.find(mean.weight);
  if (weight != columns.end() && weight->second->axis == mean.axis) return;
  const auto what = "with metric '" + mean.id + "', a mean weighted by '" + mean.weight + "'";
  throw PluginError(mean.plugin, what,
                    weight == columns.end()
                        ? "no loaded plugin has that metric; name the plugin that has it in `needs`"
                        : "that metric has another axis");
}

}  // namespace

std::vector<Column> make_columns(const std::vector<Plugin*>& plugins, const Graph& graph) {
  std::vector<Column> columns;
  size_t count = 0;
  for (const auto* p : plugins) count += p->offered.metrics.size();
  columns.reserve(count);  // `by_id` points into it
  ById by_id;
  for (auto* p : plugins) {
    for (const auto& metric : p->offered.metrics) {  // also for a failed plugin
      auto column = make_column(metric, p->manifest.id);
      require_valid_column(column, by_id);
      column.cells[static_cast<size_t>(column.axis)].resize(axis_size(graph, column.axis));
      if (!p->failure.empty()) make_unavailable(column, p->failure, graph);
      const auto& added = columns.emplace_back(std::move(column));
      by_id.emplace(added.id, &added);
    }
  }
  for (const auto& c : columns) require_weight(c, by_id);
  return columns;
}

void mark_without_graph(std::vector<Column>& columns) {
  for (auto& c : columns) {
    if (c.axis != TMETER_AXIS_NODE && c.axis != TMETER_AXIS_MODULE_CALL) continue;
    c.cells[TMETER_AXIS_MODULE].clear();
    c.cells[TMETER_AXIS_MODULE_CALL].clear();
    c.cells[TMETER_AXIS_MODEL] = {number_of_kind(TMETER_NUMBER_UNAVAILABLE)};
    c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
    c.provenance_text = "the file holds weights only; a .pt2 or TorchScript file has the operators";
  }
}

namespace {

/// The value that decides whether a node is counted: its own, or that of an enclosing answered
/// call.
tmeter_number deciding(const Column& column, const Node& node) {
  const auto own = column.cell(TMETER_AXIS_NODE, node.index);
  if (own.kind != TMETER_NUMBER_IN_MODULE) return own;
  for (const ModuleCall* call = node.call; call; call = call->parent) {
    const auto value = column.cell(TMETER_AXIS_MODULE_CALL, call->index);
    if (is_by_module(value)) return value;
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
  constexpr size_t kMaxNamedOperators = 8;
  std::vector<std::pair<std::string, uint64_t>> ops(missing.begin(), missing.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (size_t i = 0; i < std::min(kMaxNamedOperators, ops.size()); ++i)
    out += (i ? ", " : "") + printable(ops[i].first) + " ×" + std::to_string(ops[i].second);
  const auto more = ops.size() - std::min(kMaxNamedOperators, ops.size());
  return more ? out + " and " + std::to_string(more) + " more operators" : out;
}

}  // namespace

std::vector<std::string> omissions(const std::vector<Column>& columns, const Graph& graph,
                                   const Coverage& coverage) {
  Missing reported;
  for (const auto& u : coverage.unknown_ops) reported[u.op] = u.nodes;
  std::map<std::string, std::string> metrics;  // grouped by the omitted operators
  for (const auto& c : columns) {
    if (c.axis != TMETER_AXIS_NODE || !is_partial(c.cell(TMETER_AXIS_MODEL, 0))) continue;
    const auto missing = missing_in(c, graph);
    if (missing.empty() || missing == reported) continue;
    auto& ids = metrics[named(missing)];
    ids += (ids.empty() ? "" : ", ") + c.id;
  }
  std::vector<std::string> out;
  for (const auto& [ops, ids] : metrics) {
    const bool one = ids.find(',') == std::string::npos;
    out.push_back(ids + (one ? " leaves out " : " leave out ") + ops + ", for which " +
                  (one ? "it has" : "they have") + " no value");
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
