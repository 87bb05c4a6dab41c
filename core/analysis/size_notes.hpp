// Sizes that the file does not record: those computed again for other inputs, those assumed
// because they depend on data, and sizes outside of the conditions of the recorded program.
//
// A loader reports assumptions as properties of the graph. "assumed", any text: a branch was
// chosen, or a size was assumed that no symbol shows. "assumed.symbols": the names of symbols that
// depend on data, separated by spaces. A value that the user gives to such a symbol is not assumed.
#pragma once
#include <string>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// "sizes worked out for x=8x3x224x224; the file records 1x3x224x224; of the literals in the
/// program 12 were computed again, 3 kept". Empty if all sizes are recorded.
std::string recomputed_shapes_note(const Graph& graph);

/// Adds the note to the provenance of every metric that depends on sizes: all but those of tensors.
void note_recomputed_shapes(const Graph& graph, Results& results);

/// Whether the values rest on an assumption under the present sizes.
bool rests_on_assumption(const Graph& graph);

/// Marks the values of modules and of the model as assumed, in every metric that depends on sizes.
void mark_assumed(const Graph& graph, Results& results);

/// The warning about symbols without a value from the user. Empty without such symbols.
std::string assumed_sizes_note(const Graph& graph);

/// The warning about conditions of the program that do not hold for the present sizes. Empty if all
/// hold.
std::string unmet_conditions_note(const Graph& graph);

}  // namespace tmeter::core
