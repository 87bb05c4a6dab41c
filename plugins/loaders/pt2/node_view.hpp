// NodeView: the parts of one serialized node, found in one pass over its members.
#pragma once
#include <vector>

#include "json_util.hpp"

namespace pt2 {

struct NodeView {
  std::string_view target;  // "torch.ops.aten.conv2d.default"
  std::string_view stack;   // nn_module_stack; may be empty
  std::string_view trace;   // stack_trace
  json::array inputs, outputs;
  uint32_t stack_index = 0;  // of Modules; 0: no stack
};

/// "nodes[12] 'torch.ops.aten.conv2d.default'", for messages.
std::string node_place(size_t index, std::string_view target);

/// Throws BadFile; `number` is that of the node in messages.
NodeView view_node(json::element node, size_t number);
std::vector<NodeView> view_nodes(json::object graph);

/// The sub-graph in an argument of a higher-order operator. Throws if it holds another kind.
json::object graph_of(json::element argument);
bool is_graph(json::element argument);

}  // namespace pt2
