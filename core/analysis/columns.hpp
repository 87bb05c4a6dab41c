// The columns of the results: one for each metric of the chosen plugins, sized for the graph; and
// how many operators they count.
#pragma once
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin) if a metric description is invalid, two plugins define one metric, or a
/// weighted mean lacks its weight.
std::vector<Column> make_columns(const std::vector<Plugin*>& plugins, const Graph& graph);

/// For a file with only weights: metrics of operators are unavailable, not 0.
void mark_without_graph(std::vector<Column>& columns);

// Coverage: how many operators a metric counts, and which it leaves out.

/// The coverage of the first metric with TMETER_METRIC_COVERAGE; empty without one.
Coverage coverage_of(const std::vector<Column>& columns, const Graph& graph);

/// Operators missing from totals that are lower bounds, unless the coverage names the same ones:
/// "other_flops leaves out aten::foo ×3, for which it has no value".
std::vector<std::string> omissions(const std::vector<Column>& columns, const Graph& graph,
                                   const Coverage& coverage);

}  // namespace tmeter::core
