// The columns of the results: one for each metric of the chosen plugins, sized for the graph.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin) when a metric is described badly, two plugins define one, or one is a mean
/// whose weights are not there.
std::vector<Column> make_columns(const std::vector<Plugin*>& plugins, const Graph& graph);

/// A file of weights alone has no operators: what is counted over them is not 0 but not there.
void mark_without_graph(std::vector<Column>& columns);

}  // namespace tmeter::core
