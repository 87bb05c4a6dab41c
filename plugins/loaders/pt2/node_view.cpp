#include "node_view.hpp"

namespace pt2 {
namespace {

void read_metadata(json::object metadata, NodeView& v) {
  for (const auto field : metadata) {
    const bool is_stack = is(field.key, "nn_module_stack");
    if (!is_stack && !is(field.key, "stack_trace")) continue;
    (is_stack ? v.stack : v.trace) =
        within([&] { return field.key; }, [&] { return as_text(field.value); });
  }
}

void read_field(std::string_view key, json::element value, NodeView& v, int& found) {
  if (is(key, "target")) {
    v.target = as_text(value);
    found |= 1;
  } else if (is(key, "inputs")) {
    v.inputs = as_array(value);
    found |= 2;
  } else if (is(key, "outputs")) {
    v.outputs = as_array(value);
    found |= 4;
  } else if (is(key, "metadata") && !value.is_null()) {
    read_metadata(as_object(value), v);
  }
}

NodeView view_node(json::object node) {
  NodeView v;
  int found = 0;
  for (const auto field : node)
    within([&] { return field.key; }, [&] { read_field(field.key, field.value, v, found); });
  if (found != 7) throw BadFile("it lacks target, inputs or outputs");
  return v;
}

}  // namespace

std::string node_place(size_t index, std::string_view target) {
  return "nodes[" + std::to_string(index) + "]" + (target.empty() ? "" : " " + in_quotes(target));
}

NodeView view_node(json::element node, size_t number) {
  return within([&] { return node_place(number, {}); }, [&] { return view_node(as_object(node)); });
}

std::vector<NodeView> view_nodes(json::object graph) {
  std::vector<NodeView> views;
  for (const json::element node : array_member(graph, "nodes"))
    views.push_back(view_node(node, views.size()));
  return views;
}

bool is_graph(json::element argument) { return is(as_tagged(argument).kind, "as_graph"); }

json::object graph_of(json::element argument) {
  const auto tagged = as_tagged(argument);
  if (!is(tagged.kind, "as_graph"))
    throw BadFile("expected a sub-graph, found " + in_quotes(tagged.kind));
  return object_member(as_object(tagged.value), "graph");
}

}  // namespace pt2
