// Runs of identical siblings: 12 equal transformer blocks, 3 × (Linear, ReLU, Linear).
#pragma once
#include <string>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// `times` repetitions of `window` siblings, beginning at a module. times 0: none begins here.
struct Repeat {
  size_t window = 0, times = 0;
};

/// One entry per module, by index. Modules are identical when text (`module_texts`), tensors (name,
/// shape, type) and everything inside are. Of the windows that could begin at a place the one that
/// covers most siblings is taken, of those the shortest.
std::vector<Repeat> find_repeats(const Graph& graph, const std::vector<std::string>& texts);

}  // namespace tmeter::core
