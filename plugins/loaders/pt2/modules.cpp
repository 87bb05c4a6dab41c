#include "modules.hpp"

namespace pt2 {
namespace {

constexpr size_t kDeepest = 500;        // levels of the module tree
constexpr size_t kLongestPath = 4'096;  // characters

}  // namespace

Modules::Modules(Building& building) : building_(building) {
  tree_.emplace_back();
  by_path_.emplace(std::string_view(), 0);
}

size_t Modules::index_of(std::string_view path) {
  if (const auto it = by_path_.find(path); it != by_path_.end()) return it->second;
  if (path.size() > kLongestPath) throw BadFile("a module path is longer than 4,096 characters");
  const std::string_view all = owned_.emplace_back(path);
  size_t parent = 0, levels = 0;
  for (size_t start = 0; start <= all.size();) {
    const size_t end = std::min(all.find('.', start), all.size());
    if (end == start) throw BadFile("the module path " + in_quotes(all) + " has an empty part");
    if (++levels > kDeepest) throw BadFile("modules are nested more than 500 deep");
    const auto [it, added] = by_path_.try_emplace(all.substr(0, end), tree_.size());
    if (added) {
      auto& module = tree_.emplace_back();
      module.name = all.substr(start, end - start);
      module.parent = parent;
    }
    parent = it->second;
    start = end + 1;
  }
  return parent;
}

void Modules::add_path(std::string_view path) { index_of(path); }

void Modules::read_call_graph(json::array call_graph) {
  size_t i = 0;
  for (const json::element entry : call_graph) {
    within([&] { return "module_call_graph[" + std::to_string(i) + "]"; },
           [&] { add_path(without_call_number(text_member(as_object(entry), "fqn"))); });
    ++i;
  }
}

Modules::Stack& Modules::stack_of(std::string_view text) {
  const auto [it, added] = stacks_.try_emplace(text);
  Stack& stack = it->second;
  if (!added) return stack;
  auto entries = parse_module_stack(text);
  if (!entries) {
    stack.malformed = true;
    building_.notes.warn("unreadable module stacks",
                         "the module stack " + in_quotes(text) +
                             " of a node cannot be read: its cost appears at the enclosing module");
    return stack;
  }
  stack.entries = std::move(*entries);
  for (const auto& entry : stack.entries) {
    auto& module = tree_[index_of(entry.path)];
    if (module.type.empty()) module.type = entry.type;
  }
  return stack;
}

std::string_view stack_text(json::object node) {
  const auto metadata = find_set(node, "metadata");
  if (!metadata) return {};
  const auto stack = find_set(as_object(*metadata), "nn_module_stack");
  return stack ? as_text(*stack) : std::string_view();
}

void Modules::read_stacks(json::object graph) {
  size_t i = 0;
  for (const json::element node : array_member(graph, "nodes")) {
    within([&] { return "nodes[" + std::to_string(i) + "]"; },
           [&] { read_node_stacks(as_object(node)); });
    ++i;
  }
}

void Modules::read_node_stacks(json::object node) {
  if (const auto text = stack_text(node); !text.empty()) stack_of(text);
  if (text_member(node, "target").find("higher_order") == std::string_view::npos) return;
  for (const json::element input : array_member(node, "inputs")) {
    const auto tagged = as_tagged(member(as_object(input), "arg"));
    if (tagged.kind == "as_graph") read_stacks(object_member(as_object(tagged.value), "graph"));
  }
}

void Modules::build() {
  auto& graph = building_.graph;
  tree_[0].id = graph.module(0, {}, tree_[0].type);
  for (size_t i = 1; i < tree_.size(); ++i) {  // parents stand before their children
    auto& m = tree_[i];
    m.id = graph.module(tree_[m.parent].id, m.name, m.type);
  }
  root_call_ = graph.module_call(tree_[0].id, 0);
}

tmeter_id Modules::module(std::string_view path) const {
  const auto it = by_path_.find(path);
  return tree_[it == by_path_.end() ? 0 : it->second].id;
}

tmeter_id Modules::call_of(std::string_view text, tmeter_id otherwise) {
  if (text.empty()) return otherwise;
  Stack& stack = stack_of(text);
  if (stack.entries.empty()) return otherwise;
  if (stack.call == 0) stack.call = make_call(stack);
  return stack.call;
}

tmeter_id Modules::make_call(const Stack& stack) {
  // The key names one call of a module inside its caller; strict export reuses keys for a module
  // that is known by several paths, hence the path beside it.
  tmeter_id call = root_call_;
  for (const auto& entry : stack.entries) {
    if (entry.path.empty()) continue;  // the root runs once
    const auto [it, added] = calls_.try_emplace({call, entry.key, entry.path}, 0);
    if (added) it->second = building_.graph.module_call(module(entry.path), call);
    call = it->second;
  }
  return call;
}

std::string_view Modules::module_path_of(std::string_view text) {
  if (text.empty()) return {};
  const auto& entries = stack_of(text).entries;
  return entries.empty() ? std::string_view() : std::string_view(entries.back().path);
}

}  // namespace pt2
