#include "graph_reader.hpp"

#include "source_location.hpp"

namespace pt2 {
namespace {

struct NamedArgument {
  std::string_view name;
  json::element value;
};

NamedArgument named_argument(json::element input) {
  NamedArgument found;
  bool has_value = false;
  for (const auto field : as_object(input)) {
    if (is(field.key, "name")) {
      found.name = as_text(field.value);
    } else if (is(field.key, "arg")) {
      found.value = field.value;
      has_value = true;
    }
  }
  if (!has_value) throw BadFile("an input lacks its \"arg\"");
  return found;
}

}  // namespace

std::string_view GraphReader::unnamed(size_t position) {
  while (arg_names_.size() <= position)
    arg_names_.push_back("arg" + std::to_string(arg_names_.size()));
  return arg_names_[position];
}

const Target& GraphReader::target_of(std::string_view text) {
  if (const auto* known = target_index_.find(text)) return targets_[*known];
  text = building_.texts.keep(text);  // targets_ has a view into it
  target_index_.insert(text, targets_.size());
  return targets_.emplace_back(parse_target(text));
}

void GraphReader::read(const std::vector<NodeView>& nodes, Scope& scope, tmeter_id call,
                       size_t first, size_t total) {
  const bool outermost = depth_ == 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t number = first + i;
    if (outermost) show_progress(number, total);
    within([&] { return node_place(number, nodes[i].target); },
           [&] { read_node(nodes[i], scope, call); });
  }
}

void GraphReader::show_progress(size_t number, size_t total) const {
  if (number % kNodesBetweenChecks == 0) building_.notes.progress(number, total);
}

void GraphReader::read_node(const NodeView& node, Scope& scope, tmeter_id call) {
  if (++nodes_ % kNodesBetweenChecks == 0) building_.notes.check_cancelled();
  const auto& target = target_of(node.target);
  const tmeter_id own_call = modules_.call_of(node, call);
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
    const auto [recorded, argument] = named_argument(input);
    const auto name = recorded.empty() ? unnamed(i) : recorded;
    const auto value =
        within([&] { return "argument " + in_quotes(name); },
               [&, argument = argument] { return arguments_.value(argument, scope); });
    args_.push_back(tmeter::GraphBuilder::arg(name, value));
    ++i;
  }
  emit_node(target, node, scope, call);
}

void GraphReader::emit_node(const Target& target, const NodeView& node, Scope& scope,
                            tmeter_id call) {
  results_.clear();
  for (const json::element output : node.outputs) results_.push_back(result(output, scope));
  const auto id = building_.graph.node(target.op, target.overload, call, args_, results_,
                                       source_location(node.trace));
  if (branches_) note_places(emitted_);
  ++emitted_;
  if (const auto name = first_name(node.outputs); depth_ == 0 && !name.empty())
    building_.graph.node_name(id, name);  // names in sub-graphs are others' names outside
}

std::string_view GraphReader::first_name(json::array outputs) {
  if (outputs.size() == 0) return {};
  const auto tagged = as_tagged(*outputs.begin());
  if (tagged.kind == "as_tensor") return text_member(as_object(tagged.value), "name");
  if (tagged.kind != "as_tensors") return {};
  const auto items = as_array(tagged.value);
  return items.size() ? text_member(as_object(*items.begin()), "name") : std::string_view();
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
