// What plugins have to say in words: checked when it arrives, put in order at the end.
#pragma once
#include <string_view>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// A copy of what a plugin says. Throws Error(kPlugin) when it lacks a rule or a text, or is about
/// what the graph does not have.
Finding make_finding(const tmeter_finding& finding, std::string_view plugin, const Graph& graph);

/// Plugins of one family that look at the same weights find the same faults: of those that share a rule,
/// the one that is about most things is told, and what the others say of these is not said again. A rule
/// of another family is another rule, whatever its name.
void drop_repeated(std::vector<Finding>& findings);

/// Findings of one severity stay in the order they came in.
void most_severe_first(std::vector<Finding>& findings);

}  // namespace tmeter::core
