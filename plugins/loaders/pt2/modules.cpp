#include "modules.hpp"

namespace pt2 {
namespace {

constexpr size_t kDeepestModule = 500;  // levels of the module tree, and of a stack
constexpr size_t kLongestPath = 4'096;  // characters

}  // namespace

Modules::Modules(Building& building) : building_(building) {
  tree_.emplace_back();
  by_path_.insert({}, 0);
  stacks_.emplace_back();
}

Modules::Index Modules::add_path(std::string_view path) {
  if (const auto* index = by_path_.find(path)) return *index;
  if (path.size() > kLongestPath) throw BadFile("a module path is longer than 4,096 characters");
  const std::string_view all = owned_.emplace_back(path);
  Index parent = 0;
  size_t levels = 0;
  for (size_t start = 0; start <= all.size();) {
    const size_t end = std::min(all.find('.', start), all.size());
    if (end == start) throw BadFile("the module path " + in_quotes(all) + " has an empty part");
    if (++levels > kDeepestModule) throw BadFile("modules are nested more than 500 deep");
    const auto [index, added] =
        by_path_.insert(all.substr(0, end), static_cast<Index>(tree_.size()));
    if (added) tree_.push_back({all.substr(start, end - start), {}, parent, 0});
    parent = *index;
    start = end + 1;
  }
  return parent;
}

void Modules::read_call_graph(json::array call_graph) {
  size_t i = 0;
  by_path_.reserve(call_graph.size());
  for (const json::element entry : call_graph) {
    within([&] { return "module_call_graph[" + std::to_string(i) + "]"; },
           [&] { add_path(without_call_number(text_member(as_object(entry), "fqn"))); });
    ++i;
  }
}

uint32_t Modules::stack_of(std::string_view text, size_t depth) {
  if (const auto* found = stack_index_.find(text)) return *found;
  if (depth > kDeepestModule) throw BadFile("a module stack is more than 500 deep");
  const auto parts = split_module_stack(text);
  Stack stack;
  if (!parts.outer.empty()) stack.outer = stack_of(parts.outer, depth + 1);
  if (const auto entry = parse_stack_entry(parts.entry)) {
    stack.key = entry->key;
    stack.has_module = entry->is_module;
    stack.module = add_path(entry->path);
    auto& type = tree_[stack.module].type;
    if (type.empty()) type = entry->type;
  } else {
    building_.notes.warn("unreadable module stacks",
                         "the module stack " + in_quotes(parts.entry) +
                             " of a node cannot be read: its cost appears at the enclosing module");
  }
  const auto index = static_cast<uint32_t>(stacks_.size());
  stacks_.push_back(stack);
  stack_index_.insert(text, index);
  return index;
}

void Modules::read_stacks(std::vector<NodeView>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i)
    within([&] { return node_place(i, nodes[i].target); }, [&] { read_node_stacks(nodes[i]); });
}

void Modules::read_node_stacks(NodeView& node) {
  if (!node.stack.empty()) node.stack_index = stack_of(node.stack);
  if (node.target.find("higher_order") == std::string_view::npos) return;
  for (const json::element input : node.inputs) {
    const auto argument = member(as_object(input), "arg");
    if (!is_graph(argument)) continue;
    auto inner = view_nodes(graph_of(argument));
    read_stacks(inner);
  }
}

void Modules::build() {
  auto& graph = building_.graph;
  tree_[0].id = graph.module(0, {}, tree_[0].type);
  for (size_t i = 1; i < tree_.size(); ++i) {
    auto& m = tree_[i];
    m.id = graph.module(tree_[m.parent].id, m.name, m.type);
  }
  root_call_ = graph.module_call(tree_[0].id, 0);
}

/// The key names one call of a module inside its caller; strict export reuses keys for a module
/// that is known by several paths, hence the module beside it. The root runs once.
tmeter_id Modules::call_of_stack(Stack& stack, tmeter_id otherwise) {
  if (!stack.has_module) return otherwise;
  if (stack.call != 0) return stack.call;
  const tmeter_id caller =
      stack.outer ? call_of_stack(stacks_[stack.outer], root_call_) : root_call_;
  if (stack.module == 0) return stack.call = caller;
  const auto [it, added] = calls_.try_emplace({caller, stack.key, stack.module}, 0);
  if (added) it->second = building_.graph.module_call(tree_[stack.module].id, caller);
  return stack.call = it->second;
}

}  // namespace pt2
