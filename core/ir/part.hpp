// One module of a graph as a separate graph: the subject of --root.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// The graph of a module, and the rows of the whole to which its rows belong.
struct GraphPart {
  std::unique_ptr<Graph> graph;
  std::vector<size_t> modules, calls, nodes, tensors;  // by index in the part: index in the whole
};

/// The module of a path ("layer1.0", also ".layer1.0") or, if no module has that path, of an id
/// ("5.1"; "0" is the root). Throws Error(kUsage) naming the nearest path.
const Module& find_module(const Graph& graph, std::string_view path_or_id);

/// The module is the root: paths begin below it, and the names of its tensors lose its path. A
/// node inside belongs to the innermost call of a module of the part. The inputs are the tensors
/// made outside that nodes use, the outputs those that are used outside. Symbols are those of the
/// whole. The property "part" names the module.
GraphPart part_of(const Graph& whole, const Module& root);

}  // namespace tmeter::core
