#include "modules.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pt2 {
namespace {

constexpr size_t kMaxModuleDepth = 500;  // levels of the module tree, and of a stack
constexpr size_t kMaxPathBytes = 4'096;  // bytes
// Limit for all modules, as in the host: each path repeats the names above it.
constexpr size_t kMaxTotalPathBytes = size_t{128} << 20;
// Calls of modules. Real graphs have fewer than they have operators.
constexpr size_t kMaxStacks = 2'000'000;

void append(std::string& key, uint32_t number) {
  std::array<char, sizeof number> bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  key.append(bytes.data(), bytes.size());
}

/// Length of the common prefix.
size_t common(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + size, b.begin()).first -
                             a.begin());
}

}  // namespace

Modules::Modules(Building& building) : building_(building) {
  tree_.emplace_back();
  by_path_.insert({}, 0);
  stacks_.emplace_back();
}

/// The longest known prefix of a new path. Searches from the end: most new paths differ from a
/// known one in their last name only.
Modules::PathPrefix Modules::longest_prefix(std::string_view path) const {
  size_t end = path.rfind('.');
  while (end != 0 && end != std::string_view::npos) {
    if (const auto* index = by_path_.find(path.substr(0, end))) return {*index, end + 1};
    end = path.rfind('.', end - 1);
  }
  return {0, 0};
}

Modules::Index Modules::add_path(std::string_view path) {
  if (path.size() > kMaxPathBytes) throw BadFile("a module path is longer than 4,096 bytes");
  if (path.empty()) return 0;
  if (last_path_ != 0 && by_path_.entries()[last_path_ - 1].name == path)
    return by_path_.at(last_path_ - 1);
  if (const auto entry = by_path_.find_next(path, last_path_)) return by_path_.at(entry - 1);
  auto [index, start] = longest_prefix(path);
  const auto all = building_.texts.keep(path);
  while (start <= all.size()) {
    const size_t end = std::min(all.find('.', start), all.size());
    if (end == start) throw BadFile("the module path " + in_quotes(all) + " has an empty part");
    index = add_module(index, all.substr(0, end), all.substr(start, end - start));
    start = end + 1;
  }
  return index;
}

Modules::Index Modules::add_module(Index parent, std::string_view path, std::string_view name) {
  const auto depth = tree_[parent].depth + 1;
  if (depth > kMaxModuleDepth) throw BadFile("modules are nested more than 500 deep");
  path_bytes_ += path.size();
  if (path_bytes_ > kMaxTotalPathBytes)
    throw BadFile("the paths of its modules take more than 128 MiB, tmeter's limit (" +
                  std::to_string(tree_.size()) + " modules so far)");
  const auto index = static_cast<Index>(tree_.size());
  tree_.push_back({name, {}, parent, depth, 0});
  by_path_.insert(path, index);
  return index;
}

void Modules::read_call_graph(const ChunkedArray& calls) {
  size_t i = 0;
  calls.each([&](json::element piece) {
    const auto list = as_array(piece);
    if (i == 0) {
      by_path_.reserve(list.size() * calls.pieces());
      tree_.reserve(list.size() * calls.pieces());
    }
    for (const json::element entry : list) {
      within([&] { return "module_call_graph[" + std::to_string(i) + "]"; },
             [&] { add_path(without_call_number(text_member(as_object(entry), "fqn"))); });
      ++i;
    }
  });
}

/// Keeps the entries of the latest stack with which `text` begins, too. Returns where the remaining
/// entries begin.
size_t Modules::reuse_stack(std::string_view text) {
  const size_t same = common(text, last_text_);
  const auto is_there = [&](const LatestStack& reached) {
    return reached.end <= same && (reached.end == text.size() || text[reached.end] == ';');
  };
  while (!last_.empty() && !is_there(last_.back())) last_.pop_back();
  if (last_.empty()) return 0;
  return std::min(last_.back().end + 1, text.size());
}

uint32_t Modules::stack_of(std::string_view text) {
  if (text.empty()) return 0;
  if (text == last_text_) return last_.back().stack;
  size_t at = reuse_stack(text);
  last_text_.clear();
  while (at < text.size()) {
    if (last_.size() == kMaxModuleDepth) throw BadFile("a module stack is more than 500 deep");
    const auto entry = split_module_stack(text.substr(at)).entry;
    const size_t end = at + entry.size();
    last_.push_back({end, stack_inside(last_.empty() ? 0 : last_.back().stack, entry)});
    at = end + 1;
  }
  last_text_ = text;
  return last_.back().stack;
}

uint32_t Modules::stack_inside(uint32_t outer, std::string_view text) {
  const auto next = static_cast<uint32_t>(stacks_.size());
  if (next == 1) {  // usually every module runs
    stack_index_.reserve(tree_.size());
    stacks_.reserve(tree_.size());
  }
  key_.clear();
  append(key_, outer);
  key_ += text;
  const auto keep = [&](std::string_view key) { return building_.texts.keep(key); };
  const auto [position, added] = stack_index_.insert_kept(key_, next, keep);
  if (!added) return *position;
  if (stacks_.size() >= kMaxStacks)
    throw BadFile("its nodes have more than 2,000,000 different module stacks, tmeter's limit");
  text = stack_index_.entries().back().name.substr(sizeof outer);
  Stack stack;
  stack.outer = outer;
  if (const auto entry = parse_stack_entry(text)) {
    stack.key = entry->key;
    stack.has_module = entry->is_module;
    stack.module = add_path(entry->path);
    auto& type = tree_[stack.module].type;
    if (type.empty()) type = entry->type;
  } else {
    building_.notes.warn("unreadable module stacks",
                         "the module stack " + in_quotes(text) +
                             " of a node cannot be read: its cost appears at the enclosing module");
  }
  stacks_.push_back(stack);
  return next;
}

void Modules::read_stacks(std::vector<NodeView>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) read_stack(nodes[i], i);
}

void Modules::read_stack(NodeView& node, size_t number) {
  within([&] { return node_place(number, node.target); }, [&] { read_node_stacks(node); });
}

void Modules::read_node_stacks(NodeView& node) {
  node.stack_index = stack_of(node.stack);
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
  calls_.reserve(stacks_.size());
}

/// A key names one call of a module inside its caller. Strict export reuses keys for a module with
/// several paths, so the module is part of the lookup. The root runs once.
tmeter_id Modules::call_of_stack(Stack& stack, tmeter_id otherwise) {
  if (!stack.has_module) return otherwise;
  if (stack.call != 0) return stack.call;
  const tmeter_id caller =
      stack.outer ? call_of_stack(stacks_[stack.outer], root_call_) : root_call_;
  if (stack.module == 0) return stack.call = caller;
  key_.clear();
  append(key_, caller);
  append(key_, stack.module);
  key_ += stack.key;
  const auto keep = [&](std::string_view key) { return building_.texts.keep(key); };
  const auto [call, added] = calls_.insert_kept(key_, 0, keep);
  if (added) *call = building_.graph.module_call(tree_[stack.module].id, caller);
  return stack.call = *call;
}

}  // namespace pt2
