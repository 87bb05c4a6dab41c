#include "core/analysis/columns.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "core/analysis/emission_rules.hpp"
#include "core/base/error.hpp"
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

void require_sound(const Column& added, const ById& others) {
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
    for (const auto& metric : p->offered.metrics) {  // also of a plugin that failed
      auto column = make_column(metric, p->manifest.id);
      require_sound(column, by_id);
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

}  // namespace tmeter::core
