// Modules: the module tree and its calls, from three sources: `module_call_graph` (all modules in
// PyTorch's order), the nn_module_stack of the nodes (types and calls), and the dotted names of
// parameters and buffers (modules that never run).
//
// `read_call_graph`, `read_stacks` and `add_path` collect, `build` makes the tree, `call_of` is
// valid afterwards.
#pragma once
#include <string>
#include <vector>

#include "json_util.hpp"
#include "node_view.hpp"
#include "scope.hpp"

namespace pt2 {

class Modules {
 public:
  using Index = uint32_t;  // index of a module; 0 is the root

  explicit Modules(Building& building);

  void read_call_graph(const ChunkedArray& calls);
  /// Sets the stack_index of the nodes, and reads the stacks of all graphs inside them. Messages
  /// name the node by `number`.
  void read_stacks(std::vector<NodeView>& nodes);
  void read_stack(NodeView& node, size_t number);
  /// Index of the module stack of this text.
  uint32_t stack_of(std::string_view text);
  /// The module with this dotted path; created with its ancestors if it is new.
  Index add_path(std::string_view path);
  void build();

  /// The module of a node; the root if it has no stack. Also valid before `build`.
  Index module_of(const NodeView& node) const { return module_of_stack(node.stack_index); }
  Index module_of_stack(uint32_t stack) const { return stacks_[stack].module; }

  // After build():
  tmeter_id module(Index index) const { return tree_[index].id; }
  tmeter_id root_call() const { return root_call_; }
  /// The innermost call that contains a node; `otherwise` if it has no stack.
  tmeter_id call_of(const NodeView& node, tmeter_id otherwise) {
    return call_of_stack(node.stack_index, otherwise);
  }
  tmeter_id call_of_stack(uint32_t stack, tmeter_id otherwise) {
    return call_of_stack(stacks_[stack], otherwise);
  }
  /// Class of the root module, "" when unknown.
  std::string_view root_type() const { return tree_.front().type; }

 private:
  struct PathPrefix {
    Index module;
    size_t rest;  // start of the remaining names; beyond the path after the last one
  };
  struct Module {
    std::string_view name, type;
    Index parent = 0;
    uint32_t depth = 0;
    tmeter_id id = 0;
  };
  /// A distinct module stack. Its outer part is a separate stack, so that each entry is parsed
  /// once however many nodes share it.
  struct Stack {
    uint32_t outer = 0;  // index of the enclosing stack; 0: none
    std::string_view key;
    Index module = 0;
    bool has_module = false;
    tmeter_id call = 0;  // once it is in the graph
  };
  size_t reuse_stack(std::string_view text);
  uint32_t stack_inside(uint32_t outer, std::string_view entry);
  tmeter_id call_of_stack(Stack& stack, tmeter_id otherwise);
  void read_node_stacks(NodeView& node);
  PathPrefix longest_prefix(std::string_view path) const;
  Index add_module(Index parent, std::string_view path, std::string_view name);

  Building& building_;
  std::vector<Module> tree_;  // [0] is the root; parents precede their children
  NameMap<Index> by_path_;
  size_t path_bytes_ = 0;
  uint32_t last_path_ = 0;  // see NameMap::find_next
  /// The latest stack: of its text up to `end`. Most stacks share a prefix with their predecessor.
  struct LatestStack {
    size_t end;
    uint32_t stack;
  };
  std::string last_text_;
  std::vector<LatestStack> last_;
  NameMap<uint32_t> stack_index_;  // key: outer stack and entry
  std::vector<Stack> stacks_;      // [0] means no stack
  NameMap<tmeter_id> calls_;       // key: caller, key and module
  std::string key_;                // reused
  tmeter_id root_call_ = 0;
};

}  // namespace pt2
