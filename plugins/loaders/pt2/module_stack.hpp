// The text that torch.export attaches to each node to name the enclosing module calls:
//
//   L__self__,,net.Net;L__self__blk@1,blk,torch.nn….Sequential;L__self__blk.0@1,blk.0,torch.nn….Linear
//
// one `key,path,type` per module, outermost first. The key is one call: `@n` marks the n-th repeat.
// Strict export of torch 2.6 … 2.9 writes source expressions (`getattr(L['self'].blk, '0')`) where
// later ones write dotted paths, and calls the root `_export_root` inside sub-graphs.
//
// Needs no host. Views point into the text that was parsed.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pt2 {

struct StackEntry {
  std::string_view key;   // of the call
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

}  // namespace pt2
