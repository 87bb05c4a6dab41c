// Nodes that were recorded when their text was read.
#include "../common/json_text.hpp"
#include "dtypes.hpp"
#include "graph_reader.hpp"

namespace pt2 {

namespace {

constexpr size_t kNodesAhead = 8;

/// What the node uses and makes is fetched meanwhile. Inlined in any case, as NameMap's `expect`.
__attribute__((always_inline)) inline void expect(const Recording& recording, size_t at,
                                                  const Scope& scope) {
  if (at >= recording.nodes.size()) return;
  const auto& node = recording.nodes[at];
  if (node.target == RecordedNode::kUnusual) return;
  const auto values =
      std::span(recording.values).subspan(node.first, size_t{node.arguments} + node.results);
  for (const auto& value : values)
    if (value.kind == RecordedValue::Kind::kTensor) scope.expect_at(value.at);
}

}  // namespace

void GraphReader::read(Recording& recording, size_t at, Scope& scope, tmeter_id call, size_t first,
                       size_t end, size_t total) {
  for (size_t number = first; number < end; ++number, ++at) {
    show_progress(number, total);
    expect(recording, at + kNodesAhead, scope);
    const auto& node = recording.nodes[at];
    if (node.target == RecordedNode::kUnusual) {
      auto& view = document_.parse(recording.texts[node.first], number);
      view.stack_index = node.stack;
      within([&] { return node_place(number, view.target); },
             [&] { read_node(view, scope, call); });
    } else {
      within([&] { return node_place(number, recording.targets[node.target].text); },
             [&] { emit(recording, node, scope, modules_.call_of_stack(node.stack, call)); });
    }
  }
}

void GraphReader::emit(Recording& recording, const RecordedNode& node, Scope& scope,
                       tmeter_id call) {
  if (++nodes_ % kNodesBetweenChecks == 0) building_.notes.check_cancelled();
  const auto values =
      std::span(recording.values).subspan(node.first, node.arguments + node.results);
  args_.clear();
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
  const auto& target = recording.targets[node.target].target;
  const auto id = building_.graph.node(target.op, target.overload, call, args_, results_,
                                       recording.locations[node.location]);
  if (branches_) note_places(emitted_);
  ++emitted_;
  if (node.results == 0) return;
  const auto& named = values[node.arguments];
  const auto name = recording.name_of_result(named, scope);
  if (!name.empty()) building_.graph.node_name(id, name);
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
    case RecordedValue::Kind::kText: {
      std::string text(recording.texts[value.at]);
      text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
      json::element root;
      const auto error = loading::parse_json(text, argument_, root);
      return arguments_.value(loading::require_json(error, root), scope);
    }
    default: {
      auto& made = recording.constants[value.at];
      if (made.id == 0) made.id = constant(made);
      return made.id;
    }
  }
}

tmeter_id GraphReader::constant(Constant& constant) {
  switch (constant.kind) {
    case PlainValue::Kind::kInteger:
      return arguments_.integer(constant.number);
    case PlainValue::Kind::kBoolean:
      return arguments_.boolean(constant.number != 0);
    case PlainValue::Kind::kReal:
      return building_.graph.real(constant.real);
    case PlainValue::Kind::kScalarType:
      return building_.graph.dtype(scalar_type(constant.number));
    case PlainValue::Kind::kIntegers: {
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
