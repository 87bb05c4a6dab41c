// Histograms and curves that plugins draw: checked when they arrive.
#pragma once
#include <tmeter/abi/distribution.h>

#include <string_view>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// A copy of what a plugin says. Throws Error(kPlugin) when it is empty, has edges that do not
/// rise, or is about what the graph does not have.
Distribution make_distribution(const tmeter_distribution& distribution, std::string_view plugin,
                               const Graph& graph);

/// The same; every y is finite.
Series make_series(const tmeter_series& series, std::string_view plugin, const Graph& graph);

}  // namespace tmeter::core
