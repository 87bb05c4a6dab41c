#include "graph_reader.hpp"

#include "source_location.hpp"

namespace pt2 {
namespace {

constexpr size_t kNodesBetweenChecks = 4096;  // for a user who wants to stop

}  // namespace

GraphReader::NodeView GraphReader::view_of(json::object node) {
  NodeView v;
  v.target = text_member(node, "target");
  v.inputs = array_member(node, "inputs");
  v.outputs = array_member(node, "outputs");
  const auto metadata = find_set(node, "metadata");
  if (!metadata) return v;
  for (const auto [key, value] : as_object(*metadata)) {
    if (key == "nn_module_stack") v.stack = as_text(value);
    if (key == "stack_trace") v.trace = as_text(value);
  }
  return v;
}

const Target& GraphReader::target_of(std::string_view text) {
  const auto [index, added] = target_index_.insert(text, targets_.size());
  if (added) targets_.push_back(parse_target(text));
  return targets_[*index];
}

void GraphReader::read(json::object graph, Scope& scope, tmeter_id call) {
  size_t i = 0;
  for (const json::element element : array_member(graph, "nodes")) {
    const auto place = [&] {
      const auto target = find_set(as_object(element), "target");
      std::string_view name;
      const bool named = target && target->get(name) == simdjson::SUCCESS;
      return "nodes[" + std::to_string(i) + "]" + (named ? " " + in_quotes(name) : "");
    };
    within(place, [&] { read_node(view_of(as_object(element)), scope, call); });
    ++i;
  }
}

void GraphReader::read_node(const NodeView& node, Scope& scope, tmeter_id call) {
  if (++nodes_ % kNodesBetweenChecks == 0 && building_.notes.cancelled())
    throw tmeter::Error(TMETER_CANCELLED, "cancelled");
  const auto& target = target_of(node.target);
  const tmeter_id own_call = modules_.call_of(node.stack, call);
  if (target.op.starts_with(kHigherOrder)) {
    const auto name = std::string_view(target.op).substr(kHigherOrder.size());
    if (inline_higher_order(name, node, scope, own_call)) return;
    warn_hidden(target.op, node);
  }
  emit(target, node, scope, own_call);
}

void GraphReader::emit(const Target& target, const NodeView& node, Scope& scope, tmeter_id call) {
  args_.clear();
  size_t i = 0;
  for (const json::element input : node.inputs) {
    auto name = text_member(as_object(input), "name");
    if (name.empty()) {
      while (arg_names_.size() <= i)
        arg_names_.push_back("arg" + std::to_string(arg_names_.size()));
      name = arg_names_[i];
    }
    const auto value = within([&] { return "argument " + in_quotes(name); },
                              [&] { return arguments_.value(argument_of(input), scope); });
    args_.push_back(tmeter::GraphBuilder::arg(name, value));
    ++i;
  }
  emit_node(target, node, scope, call);
}

void GraphReader::emit_node(const Target& target, const NodeView& node, Scope& scope,
                            tmeter_id call) {
  results_.clear();
  for (const json::element output : node.outputs) results_.push_back(result(output, scope));
  building_.graph.node(target.op, target.overload, call, args_, results_,
                       source_location(node.trace));
}

tmeter_id GraphReader::result(json::element output, Scope& scope) {
  const auto tagged = as_tagged(output);
  const auto named = [&](json::element e) { return scope.make(text_member(as_object(e), "name")); };
  if (tagged.kind == "as_tensor" || tagged.kind == "as_custom_obj") return named(tagged.value);
  if (tagged.kind == "as_none") return building_.graph.none();
  if (tagged.kind == "as_tensors") {
    Ids items;
    for (const json::element e : as_array(tagged.value)) items.push_back(named(e));
    return building_.graph.list(items);
  }
  if (tagged.kind.starts_with("as_sym_") && tagged.value.is_object()) {
    const auto symbol = as_tagged(tagged.value);
    if (symbol.kind == "as_name") return scope.make(as_text(symbol.value));
  }
  if (tagged.kind == "as_optional_tensors" || tagged.kind == "as_optional_tensor") {
    const auto one = [&](json::element e) {
      const auto item = as_tagged(e);
      return item.kind == "as_none" ? building_.graph.none() : named(item.value);
    };
    if (tagged.kind == "as_optional_tensor") return one(tagged.value);
    Ids items;
    for (const json::element e : as_array(tagged.value)) items.push_back(one(e));
    return building_.graph.list(items);
  }
  return arguments_.value(output, scope);  // constants that the export knew
}

}  // namespace pt2
