// The columns of the results: one for each metric of the chosen plugins, sized for the graph.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin) if a metric description is invalid, two plugins define one metric, or a
/// weighted mean lacks its weight.
std::vector<Column> make_columns(const std::vector<Plugin*>& plugins, const Graph& graph);

/// For a file of weights alone: metrics of operators are unavailable, not 0.
void mark_without_graph(std::vector<Column>& columns);

}  // namespace tmeter::core
