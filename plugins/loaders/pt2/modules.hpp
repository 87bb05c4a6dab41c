// Modules: the module tree and its calls, put together from three places: `module_call_graph` (all
// modules in PyTorch's order), the nn_module_stack of the nodes (types and calls), and the dotted
// names of parameters and buffers (modules that never run).
//
// First `read_call_graph`, `read_stacks` and `add_path` collect; `build` makes the tree; then nodes
// ask for their call.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "json_util.hpp"
#include "module_stack.hpp"
#include "scope.hpp"

namespace pt2 {

/// The nn_module_stack of a node, "" without.
std::string_view stack_text(json::object node);

class Modules {
 public:
  explicit Modules(Building& building);

  void read_call_graph(json::array call_graph);
  /// The nodes of a graph and of all graphs inside it.
  void read_stacks(json::object graph);
  /// The module with this dotted path, and all above it.
  void add_path(std::string_view path);
  void build();

  // After build():
  tmeter_id module(std::string_view path) const;
  tmeter_id root_call() const { return root_call_; }
  /// The innermost call a node ran in; `otherwise` when it has no stack of its own.
  tmeter_id call_of(std::string_view stack, tmeter_id otherwise);

  /// Class of the root module, "" when unknown.
  std::string_view root_type() const { return tree_.front().type; }
  /// Path of the module a node belongs to; "" for the root or without a stack. Before build, too.
  std::string_view module_path_of(std::string_view stack);

 private:
  struct Module {
    std::string_view name, type;
    size_t parent = 0;
    tmeter_id id = 0;
  };
  struct Stack {
    std::vector<StackEntry> entries;
    tmeter_id call = 0;  // once asked for
    bool malformed = false;
  };
  using CallKey = std::tuple<tmeter_id, std::string_view, std::string_view>;  // parent, key, path

  size_t index_of(std::string_view path);
  Stack& stack_of(std::string_view text);
  tmeter_id make_call(const Stack& stack);
  void read_node_stacks(json::object node);

  Building& building_;
  std::deque<Module> tree_;  // [0] is the root
  std::unordered_map<std::string_view, size_t> by_path_;
  std::deque<std::string> owned_;  // texts behind views
  std::unordered_map<std::string_view, Stack> stacks_;
  std::map<CallKey, tmeter_id> calls_;
  tmeter_id root_call_ = 0;
};

}  // namespace pt2
