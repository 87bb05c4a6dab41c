// Sizes that the file does not record: those computed again for other inputs, and those assumed
// because they depend on data.
//
// A loader reports assumptions as properties of the graph. "assumed", any text: a branch was
// chosen, or a size was assumed that no symbol shows. "assumed.symbols": the names of symbols that
// depend on data, separated by spaces. A value that the user gives to such a symbol is not assumed.
#pragma once
#include <string>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// "sizes worked out for x=8x3x224x224; the file records 1x3x224x224; of the numbers in the program
/// 12 were worked out again, 3 kept". Empty if all sizes are recorded.
std::string recomputed_shapes_note(const Graph& graph);

/// Adds the note to the provenance of every metric that depends on sizes: all but those of tensors.
void note_recomputed_shapes(const Graph& graph, Results& results);

/// Marks the values of modules and of the model as assumed, in every metric that depends on sizes.
void mark_assumed(const Graph& graph, Results& results);

/// The warning about symbols without a value from the user. Empty without such symbols.
std::string assumed_sizes_note(const Graph& graph);

}  // namespace tmeter::core
