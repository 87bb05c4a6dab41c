#include "graph_reader.hpp"

#include "../common/json_text.hpp"
#include "guards.hpp"
#include "node_view.hpp"
#include "tensor_meta.hpp"

namespace pt2 {
namespace {

constexpr std::string_view kAssertion = "aten::_assert_scalar";

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

/// Parses a recorded text. The element lives until the next use of the parser.
json::element parse_recorded(std::string_view recorded, json::parser& parser) {
  std::string text(recorded);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  json::element root;
  const auto error = loading::parse_json(text, parser, root);
  return loading::require_json(error, root);
}

}  // namespace

std::string_view GraphReader::unnamed(size_t position) {
  while (arg_names_.size() <= position)
    arg_names_.push_back("arg" + std::to_string(arg_names_.size()));
  return arg_names_[position];
}

const Target& GraphReader::target_of(std::string_view text) {
  if (const auto* target_index = target_index_.find(text)) return targets_[*target_index];
  text = building_.texts.keep(text);  // targets_ has a view into it
  target_index_.insert(text, targets_.size());
  return targets_.emplace_back(parse_target(text));
}

void GraphReader::read(const std::vector<NodeView>& nodes, Scope& scope, tmeter_id call) {
  for (size_t i = 0; i < nodes.size(); ++i)
    within([&] { return node_place(i, nodes[i].target); },
           [&] { read_node(nodes[i], scope, call); });
}

void GraphReader::read(Recording& recording, Scope& scope, tmeter_id call) {
  const auto& nodes = recording.nodes;
  for (size_t number = 0; number < nodes.size(); ++number) {
    if (number % kNodesBetweenChecks == 0) building_.notes.progress(number, nodes.size());
    const auto& node = nodes[number];
    if (node.target == RecordedNode::kJson) {
      auto view = view_node(parse_recorded(recording.texts[node.first], node_), number);
      view.stack_index = node.stack;
      within([&] { return node_place(number, view.target); },
             [&] { read_node(view, scope, call); });
    } else {
      within([&] { return node_place(number, recording.targets[node.target].text); },
             [&] { emit(recording, node, scope, modules_.call_of_stack(node.stack, call)); });
    }
  }
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
    if (i == 0 && target.op == kAssertion) add_assertion(argument, scope, building_);
    args_.push_back(tmeter::GraphBuilder::arg(name, value));
    ++i;
  }
  emit_node(target, node, scope, call);
}

void GraphReader::emit_node(const Target& target, const NodeView& node, Scope& scope,
                            tmeter_id call) {
  results_.clear();
  for (const json::element output : node.outputs) results_.push_back(result(output, scope));
  // The same name may mean another value outside of a sub-graph.
  add_node(target, call, source_location(node.trace),
           depth_ == 0 ? first_name(node.outputs) : std::string_view());
}

void GraphReader::add_node(const Target& target, tmeter_id call, std::string_view location,
                           std::string_view name) {
  const auto id = building_.graph.node(target.op, target.overload, call, args_, results_, location);
  if (branches_) note_places(emitted_);
  ++emitted_;
  if (!name.empty()) building_.graph.node_name(id, name);
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
  return arguments_.value(output, scope);  // a constant that the export knew
}

void GraphReader::emit(Recording& recording, const RecordedNode& node, Scope& scope,
                       tmeter_id call) {
  if (++nodes_ % kNodesBetweenChecks == 0) building_.notes.check_cancelled();
  const auto values =
      std::span(recording.values).subspan(node.first, node.arguments + node.results);
  args_.clear();
  if (node.arguments > 0 && recording.targets[node.target].target.op == kAssertion &&
      values[0].kind == RecordedValue::Kind::kJson)
    add_assertion(parse_recorded(recording.texts[values[0].at], argument_), scope, building_);
  for (size_t i = 0; i < node.arguments; ++i) {
    const auto& value = values[i];
    const auto name = value.name == 0 ? unnamed(i) : recording.names[value.name];
    const auto id = within([&] { return "argument " + in_quotes(name); },
                           [&] { return argument(recording, value, scope); });
    args_.push_back(tmeter::GraphBuilder::arg(name, id));
  }
  results_.clear();
  for (const auto& value : values.subspan(node.arguments))
    results_.push_back(result(recording, value, scope));
  const auto name =
      node.results == 0 ? std::string_view() : recording.name_of_result(values[node.arguments]);
  add_node(recording.targets[node.target].target, call, recording.locations[node.location], name);
}

tmeter_id GraphReader::argument(Recording& recording, const RecordedValue& value, Scope& scope) {
  switch (value.kind) {
    case RecordedValue::Kind::kTensor:
      return scope.use_at(value.at);
    case RecordedValue::Kind::kTensors: {
      items_.clear();
      for (const auto name : recording.list(value)) items_.push_back(scope.use_at(name));
      return building_.graph.list(items_);
    }
    case RecordedValue::Kind::kJson:
      return arguments_.value(parse_recorded(recording.texts[value.at], argument_), scope);
    default: {
      auto& made = recording.constants[value.at];
      if (made.id == 0) made.id = constant(made);
      return made.id;
    }
  }
}

tmeter_id GraphReader::constant(Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::kInteger:
      return arguments_.integer(constant.number);
    case Constant::Kind::kBoolean:
      return arguments_.boolean(constant.number != 0);
    case Constant::Kind::kReal:
      return building_.graph.real(constant.real);
    case Constant::Kind::kScalarType:
      return building_.graph.dtype(scalar_type(constant.number));
    case Constant::Kind::kIntegers: {
      Ids items;
      for (const auto n : constant.numbers) items.push_back(arguments_.integer(n));
      return building_.graph.list(items);
    }
    default:
      return arguments_.none();
  }
}

tmeter_id GraphReader::result(const Recording& recording, const RecordedValue& value,
                              Scope& scope) {
  if (value.kind == RecordedValue::Kind::kTensor) return scope.make_at(value.at);
  if (value.kind != RecordedValue::Kind::kTensors) return building_.graph.none();
  items_.clear();
  for (const auto name : recording.list(value)) items_.push_back(scope.make_at(name));
  return building_.graph.list(items_);
}

}  // namespace pt2
