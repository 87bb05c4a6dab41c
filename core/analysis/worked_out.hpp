// Figures for sizes that the file does not record, and how that is told.
#pragma once
#include <string>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// "sizes worked out for x=8x3x224x224; the file records 1x3x224x224; of the numbers in the program
/// 12 were worked out again, 3 kept". Empty when all sizes are the file's.
std::string worked_out_note(const Graph& graph);

/// Adds it to the provenance of every metric that depends on sizes: all but those of tensors.
void mark_worked_out(const Graph& graph, Results& results);

}  // namespace tmeter::core
