// NodeView: where the parts of one serialized node are, found in one pass over its fields. A
// graph's nodes are looked at several times (module stacks, ties, the graph itself).
#pragma once
#include <vector>

#include "json_util.hpp"

namespace pt2 {

struct NodeView {
  std::string_view target;  // "torch.ops.aten.conv2d.default"
  std::string_view stack;   // nn_module_stack, "" without
  std::string_view trace;   // stack_trace
  json::array inputs, outputs;
  uint32_t stack_index = 0;  // of Modules; 0: no stack
};

/// "nodes[12] 'torch.ops.aten.conv2d.default'", for messages.
std::string node_place(size_t index, std::string_view target);

std::vector<NodeView> view_nodes(json::object graph);
/// Of a list of nodes, the first of which has the number `first` in messages.
std::vector<NodeView> view_nodes(json::array nodes, size_t first);

/// The sub-graph an argument of a higher-order operator carries; throws when it carries none.
json::object graph_of(json::element argument);
bool is_graph(json::element argument);

}  // namespace pt2
