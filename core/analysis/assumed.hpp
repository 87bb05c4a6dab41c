// Figures that rest on an assumption about data.
//
// A loader says so with properties of the graph: "assumed", any text, when a branch was chosen or a
// size was assumed in a way that no symbol shows; "assumed.symbols", names with spaces between them,
// of symbols that depend on data. Values that the user gives to such symbols are no assumption.
#pragma once
#include <string>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Marks the figures of the model and of modules, of every metric that depends on sizes.
void mark_assumed(const Graph& graph, Results& results);

/// The warning for symbols that nobody gave a value; empty: there are none.
std::string assumed_sizes_note(const Graph& graph);

}  // namespace tmeter::core
