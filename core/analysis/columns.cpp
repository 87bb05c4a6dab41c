#include "core/analysis/columns.hpp"

#include <algorithm>
#include <array>

#include "core/analysis/axes.hpp"
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

/// Of a plugin that failed: no cell has a figure, and the column says why.
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

void require_sound(const Column& added, const std::vector<Column>& columns) {
  const auto other = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& c) { return c.id == added.id; });
  if (other != columns.end()) {
    const auto ids = std::minmax(other->plugin, added.plugin);
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

}  // namespace

std::vector<Column> make_columns(const std::vector<Plugin*>& plugins, const Graph& graph) {
  std::vector<Column> columns;
  for (auto* p : plugins) {
    for (const auto& metric : p->offered.metrics) {  // also of a plugin that failed
      auto column = make_column(metric, p->manifest.id);
      require_sound(column, columns);
      column.cells[static_cast<size_t>(column.axis)].resize(axis_size(graph, column.axis));
      if (!p->failure.empty()) make_unavailable(column, p->failure, graph);
      columns.push_back(std::move(column));
    }
  }
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
