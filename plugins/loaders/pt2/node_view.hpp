// One serialized node: its parts, and the meaning of their texts. The texts need no host.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_util.hpp"

namespace pt2 {

// The function that a node calls: "torch.ops.aten.max.dim" → aten::max, overload dim.

struct Target {
  std::string op;             // "aten::conv2d", "_operator::mul", "higher_order::cond"
  std::string_view overload;  // "" for the default; a view into the parsed text
};

inline constexpr std::string_view kHigherOrder = "higher_order::";

/// `torch.ops.NS.NAME[.OVERLOAD]`, Python functions (`_operator.add`, `torch.sym_max`) and
/// registered extensions (`#NS:NAME`).
Target parse_target(std::string_view text);

// The line of user code of a node, from the stack trace that torch.export attaches.

/// "resnet.py:285": the last frame outside PyTorch, or else the last frame; "" for a trace without
/// frames.
std::string source_location(std::string_view stack_trace);
/// " at resnet.py:285", or nothing.
std::string at_line(std::string_view stack_trace);

// The text that torch.export attaches to each node to name the enclosing module calls:
//
//   L__self__,,net.Net;L__self__blk@1,blk,torch.nn….Sequential;L__self__blk.0@1,blk.0,torch.nn….Linear
//
// one `key,path,type` per module, outermost first. The key is one call: `@n` marks the n-th repeat.
// Strict export of torch 2.6 … 2.9 writes source expressions (`getattr(L['self'].blk, '0')`) where
// later ones write dotted paths, and calls the root `_export_root` inside sub-graphs.
//
// Views point into the text that was parsed.

struct StackEntry {
  std::string_view key;   // key of the call
  std::string path;       // "layer1.0.conv1"; "" for the root
  std::string_view type;  // "torch.nn.modules.conv.Conv2d"
  bool is_module = true;  // false: no particular module
};

/// The outermost entry of a stack, and the stack inside it.
struct StackText {
  std::string_view entry, inner;
};
StackText split_module_stack(std::string_view stack);

/// None if the text is malformed.
std::optional<StackEntry> parse_stack_entry(std::string_view entry);

/// The dotted path of a recorded path or source expression; none if it is malformed.
std::optional<std::string> module_path(std::string_view recorded);

/// "fc@1" → "fc": the module of a call in `module_call_graph`.
std::string_view without_call_number(std::string_view path);

// NodeView: found in one pass over the node's members.

struct NodeView {
  std::string_view target;  // "torch.ops.aten.conv2d.default"
  std::string_view stack;   // nn_module_stack; may be empty
  std::string_view trace;   // stack_trace
  json::array inputs, outputs;
  uint32_t stack_index = 0;  // stack of Modules; 0: none
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
