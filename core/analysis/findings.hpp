// Findings, histograms and curves of plugins: checked when they arrive, put in order at the end.
#pragma once
#include <tmeter/abi/distribution.h>

#include <string_view>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

// Each copies the plugin's data. They throw Error(kPlugin) if the target is not in the graph.

/// Throws if it lacks a rule or a text.
Finding make_finding(const tmeter_finding& finding, std::string_view plugin, const Graph& graph);
/// Throws if it is empty or its edges do not increase.
Distribution make_distribution(const tmeter_distribution& distribution, std::string_view plugin,
                               const Graph& graph);
/// Throws if it is empty, x does not increase or y is not finite.
Series make_series(const tmeter_series& series, std::string_view plugin, const Graph& graph);

/// Plugins of one family may find the same faults in the same weights. Of plugins that report
/// one rule, the one with the most targets stays complete; findings of the others are dropped if it
/// has all of their targets. Rules of different families are different rules.
void drop_repeated(std::vector<Finding>& findings);

/// Findings of one severity keep their order.
void most_severe_first(std::vector<Finding>& findings);

}  // namespace tmeter::core
