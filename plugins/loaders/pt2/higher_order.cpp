// Higher-order operators: calls that carry sub-graphs.
//
// A wrapper that runs its sub-graph exactly once is replaced by the nodes of the sub-graph, with
// the operands bound to its inputs. One branch of `cond` and one round of `while_loop` are inlined,
// with a warning. All others (scan, map, flex_attention, …) stay one node, which is listed as
// unknown.

#include <algorithm>
#include <array>

#include "graph_reader.hpp"
#include "node_view.hpp"

namespace pt2 {
namespace {

constexpr int kMaxSubgraphDepth = 64;
constexpr std::string_view kAssumed = "assumed";  // the property (core/analysis/size_notes.hpp)

size_t node_count(json::object graph) { return array_member(graph, "nodes").size(); }

/// The positional arguments. Keywords of higher-order operators are settings.
std::vector<json::element> positional(json::array inputs) {
  std::vector<json::element> arguments;
  for (const json::element e : inputs) {
    const auto input = as_object(e);
    if (text_member(input, "name").empty()) arguments.push_back(member(input, "arg"));
  }
  return arguments;
}

/// The names that outputs bind, lists flattened; "" for an output that is a constant or None.
std::vector<std::string_view> flat_names(json::array outputs) {
  std::vector<std::string_view> names;
  const auto name_of = [](json::element e) -> std::string_view {
    if (!e.is_object()) return {};
    const auto object = as_object(e);
    for (const auto key : {"name", "as_name"})
      if (const auto name = find(object, key)) return as_text(*name);
    return {};
  };
  for (const json::element output : outputs) {
    const auto tagged = as_tagged(output);
    if (!tagged.value.is_array()) {
      names.push_back(name_of(tagged.value));
      continue;
    }
    for (const json::element e : as_array(tagged.value)) names.push_back(name_of(e));
  }
  return names;
}

std::string operators(size_t n) {
  return std::to_string(n) + (n == 1 ? " operator" : " operators");
}

}  // namespace

bool GraphReader::inline_higher_order(std::string_view name, const NodeView& node, Scope& scope,
                                      tmeter_id call) {
  struct Row {
    std::string_view name;
    Inline run;
  };
  static constexpr std::array<Row, 14> kRows{{
      {"auto_functionalized", &GraphReader::inline_functionalized},
      {"auto_functionalized_v2", &GraphReader::inline_functionalized_v2},
      {"cond", &GraphReader::inline_cond},
      {"while_loop", &GraphReader::inline_while},
      {"autograd_function_apply", &GraphReader::inline_once},
      {"hints_wrapper", &GraphReader::inline_once},
      {"invoke_subgraph", &GraphReader::inline_once},
      {"run_const_graph", &GraphReader::inline_once},
      {"strict_mode", &GraphReader::inline_once},
      {"tag_activation_checkpoint", &GraphReader::inline_once},
      {"wrap", &GraphReader::inline_once},
      {"wrap_activation_checkpoint", &GraphReader::inline_once},
      {"wrap_with_autocast", &GraphReader::inline_once},
      {"wrap_with_set_grad_enabled", &GraphReader::inline_once},
  }};
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row != kRows.end() && (this->*row->run)(node, scope, call);
}

void GraphReader::warn_hidden(std::string_view op, const NodeView& node) {
  size_t hidden = 0;
  for (const json::element input : node.inputs) {
    const auto argument = argument_of(input);
    if (is_graph(argument)) hidden += node_count(graph_of(argument));
  }
  if (hidden > 0)
    building_.notes.warn("higher-order operators",
                         std::string(op) + at_line(node.trace) + " runs a sub-graph of " +
                             operators(hidden) + " in a way tmeter does not follow: not counted");
}

bool GraphReader::fits(json::object graph, size_t operands, size_t results) const {
  return array_member(graph, "inputs").size() == operands &&
         array_member(graph, "outputs").size() == results;
}

GraphReader::Ids GraphReader::operands_from(std::span<const json::element> arguments,
                                            Scope& scope) {
  Ids ids;
  for (const auto argument : arguments) arguments_.append_flat(argument, scope, ids);
  return ids;
}

GraphReader::Ids GraphReader::run_inner(json::object graph, const Ids& operands, tmeter_id call) {
  if (depth_ >= kMaxSubgraphDepth) throw BadFile("sub-graphs are nested more than 64 deep");
  ++depth_;
  Scope scope(building_, graph);
  const auto names = flat_names(array_member(graph, "inputs"));
  if (names.size() != operands.size())
    throw BadFile("a sub-graph has " + std::to_string(names.size()) + " inputs but is given " +
                  std::to_string(operands.size()));
  for (size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) scope.define(names[i], operands[i]);
  auto nodes = view_nodes(graph);
  modules_.read_stacks(nodes);
  read(nodes, scope, call);
  Ids results;
  for (const json::element output : array_member(graph, "outputs"))
    arguments_.append_flat(output, scope, results);
  --depth_;
  return results;
}

void GraphReader::bind_results(const NodeView& node, const Ids& results, Scope& scope) {
  const auto names = flat_names(node.outputs);
  if (names.size() != results.size())
    throw BadFile("it has " + std::to_string(names.size()) + " outputs but its sub-graph returns " +
                  std::to_string(results.size()));
  for (size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) scope.define(names[i], results[i]);
}

/// (settings…, graph, operands…); strings among the operands are names, other graphs gradients.
bool GraphReader::inline_once(const NodeView& node, Scope& scope, tmeter_id call) {
  const auto arguments = positional(node.inputs);
  const auto graph = std::ranges::find_if(arguments, is_graph);
  if (graph == arguments.end()) return false;
  std::vector<json::element> operands;
  for (auto it = graph + 1; it != arguments.end(); ++it) {
    const auto kind = as_tagged(*it).kind;
    if (kind != "as_string" && kind != "as_graph" && kind != "as_string_to_argument")
      operands.push_back(*it);
  }
  const Ids ids = operands_from(operands, scope);
  const auto inner = graph_of(*graph);
  if (!fits(inner, ids.size(), flat_names(node.outputs).size())) return false;
  bind_results(node, run_inner(inner, ids, call), scope);
  return true;
}

/// (condition, graph if true, graph if false, operands)
bool GraphReader::inline_cond(const NodeView& node, Scope& scope, tmeter_id call) {
  const auto arguments = positional(node.inputs);
  if (arguments.size() < 3 || !is_graph(arguments[1]) || !is_graph(arguments[2])) return false;
  const auto condition_value = scope.condition_value(arguments[0]);
  const bool taken = condition_value.value_or(true);
  const auto inner = graph_of(arguments[taken ? 1 : 2]), other = graph_of(arguments[taken ? 2 : 1]);
  const Ids ids = operands_from(std::span(arguments).subspan(3), scope);
  if (!fits(inner, ids.size(), flat_names(node.outputs).size())) return false;
  const std::string branch = taken ? "true" : "false", rest = taken ? "false" : "true";
  building_.notes.warn("conditions", "torch.cond" + at_line(node.trace) + ": the " + branch +
                                         " branch (" + operators(node_count(inner)) +
                                         ") is counted and the " + rest + " branch (" +
                                         operators(node_count(other)) + ") is not; " +
                                         (condition_value ? "the recorded sizes lead to the former"
                                                          : "the choice depends on data"));
  if (!condition_value) {
    building_.graph.property(kAssumed, "torch.cond" + at_line(node.trace));
    const auto condition = arguments_.value(arguments[0], scope);
    note_branch(node, condition, taken, emitted_);
  }
  bind_results(node, run_inner(inner, ids, call), scope);
  return true;
}

/// (graph of the condition, graph of the body, carried operands, other operands); the body returns
/// the carried ones.
bool GraphReader::inline_while(const NodeView& node, Scope& scope, tmeter_id call) {
  const auto arguments = positional(node.inputs);
  if (arguments.size() < 3 || !is_graph(arguments[0]) || !is_graph(arguments[1])) return false;
  const auto condition = graph_of(arguments[0]), body = graph_of(arguments[1]);
  const Ids ids = operands_from(std::span(arguments).subspan(2), scope);
  const size_t carries = flat_names(node.outputs).size();
  if (!fits(condition, ids.size(), 1) || !fits(body, ids.size(), carries) || carries > ids.size())
    return false;
  building_.notes.warn("loops", "torch.while_loop" + at_line(node.trace) + ": its condition (" +
                                    operators(node_count(condition)) + ") and its body (" +
                                    operators(node_count(body)) +
                                    ") are counted once; how often they run depends on data");
  building_.graph.property(kAssumed, "torch.while_loop" + at_line(node.trace));
  const size_t begin = emitted_;
  const Ids decides = run_inner(condition, ids, call);
  const size_t body_begin = emitted_;
  const Ids results = run_inner(body, ids, call);
  const auto carried = static_cast<ptrdiff_t>(results.size());
  note_loop(node, {ids.begin(), ids.begin() + carried}, {ids.begin() + carried, ids.end()},
            decides[0], results, begin, body_begin);
  bind_results(node, results, scope);
  return true;
}

/// (operator, its arguments by name): an operator that changes its arguments, made functional by
/// run_decompositions. It counts as the operator itself.
bool GraphReader::inline_functionalized(const NodeView& node, Scope& scope, tmeter_id call) {
  const auto arguments = positional(node.inputs);
  if (arguments.empty()) return false;
  const auto tagged = as_tagged(arguments[0]);
  if (tagged.kind != "as_operator") return false;
  args_.clear();
  for (const json::element input : node.inputs) {
    const auto name = text_member(as_object(input), "name");
    if (name.empty()) continue;
    args_.push_back(tmeter::GraphBuilder::arg(name, arguments_.value(argument_of(input), scope)));
  }
  emit_node(target_of(as_text(tagged.value)), node, scope, call);
  return true;
}

/// The same with mutated arguments passed as `_NAME_base_index` into the list `_all_bases`.
bool GraphReader::inline_functionalized_v2(const NodeView& node, Scope& scope, tmeter_id call) {
  constexpr std::string_view kBases = "_all_bases", kIndex = "_base_index";
  const auto arguments = positional(node.inputs);
  if (arguments.empty() || as_tagged(arguments[0]).kind != "as_operator") return false;
  Ids bases;
  for (const json::element input : node.inputs)
    if (text_member(as_object(input), "name") == kBases)
      arguments_.append_flat(argument_of(input), scope, bases);
  args_.clear();
  for (const json::element input : node.inputs) {
    auto name = text_member(as_object(input), "name");
    if (name.empty() || name == kBases) continue;
    const auto argument = argument_of(input);
    if (!name.starts_with('_')) {
      args_.push_back(tmeter::GraphBuilder::arg(name, arguments_.value(argument, scope)));
    } else if (name.ends_with(kIndex) && name.size() > kIndex.size() + 1) {
      name = name.substr(1, name.size() - 1 - kIndex.size());
      const auto tagged = as_tagged(argument);
      const int64_t i = tagged.kind == "as_int" ? as_integer(tagged.value) : -1;
      const bool there = i >= 0 && i < static_cast<int64_t>(bases.size());
      args_.push_back(tmeter::GraphBuilder::arg(
          name, there ? bases[static_cast<size_t>(i)] : arguments_.none()));
    }  // else: how the argument is a view of its base (_NAME_size, _NAME_stride, …)
  }
  emit_node(target_of(as_text(as_tagged(arguments[0]).value)), node, scope, call);
  return true;
}

// The graph's property "regions": how executors run the inlined nodes of torch.cond and
// torch.while_loop. Its lines, in the order of the nodes:
//
//   cond BEGIN TAKEN CONDITION | PLACE
//       before node BEGIN: CONDITION must be TAKEN (0 or 1)
//   while BEGIN BODY END CONDITION : CARRIED… : RESULTS… | PLACE
//       nodes [BEGIN, BODY) give CONDITION; while it holds, [BODY, END) give RESULTS, which the
//       next round has for CARRIED
//
// A value is "n12.0", the result of a node, or "i1", an input. If a value is neither, the property
// "control-flow" holds the reason why the graph cannot be run.

void GraphReader::expect_branches(const Ids& inputs) {
  branches_ = true;
  for (size_t i = 0; i < inputs.size(); ++i) places_.emplace(inputs[i], "i" + std::to_string(i));
}

void GraphReader::note_places(size_t node) {
  for (size_t i = 0; i < results_.size(); ++i)
    places_.emplace(results_[i], "n" + std::to_string(node) + "." + std::to_string(i));
}

std::string GraphReader::place_of(tmeter_id value) const {
  const auto it = places_.find(value);
  return it == places_.end() ? std::string() : it->second;
}

void GraphReader::note_unsupported_control_flow(std::string_view op, const NodeView& node) {
  building_.graph.property(
      "control-flow", std::string(op) + at_line(node.trace) +
                          " carries values that tmeter does not follow from one round to the next");
}

void GraphReader::note_region(const std::string& region, const NodeView& node,
                              std::string_view op) {
  regions_ += region + " | " + std::string(op) + at_line(node.trace) + "\n";
  building_.graph.property("regions", regions_);
}

void GraphReader::note_branch(const NodeView& node, tmeter_id condition, bool taken, size_t begin) {
  const auto on = place_of(condition);
  if (on.empty()) return note_unsupported_control_flow("torch.cond", node);
  note_region("cond " + std::to_string(begin) + " " + (taken ? "1 " : "0 ") + on, node,
              "torch.cond");
}

void GraphReader::note_loop(const NodeView& node, const Ids& carried, const Ids& others,
                            tmeter_id condition, const Ids& results, size_t begin, size_t body) {
  const auto once = [](Ids ids) {
    std::ranges::sort(ids);
    return std::ranges::adjacent_find(ids) == ids.end();
  };
  const auto made_in_body = [&](tmeter_id id) {
    const auto place = place_of(id);
    return place.starts_with('n') && std::stoul(place.substr(1)) >= body;
  };
  std::string carried_text, results_text;
  bool supported = once(carried) && once(results) && !place_of(condition).empty();
  for (const auto id : carried) {
    supported = supported && !place_of(id).empty() && std::ranges::find(others, id) == others.end();
    carried_text += " " + place_of(id);
  }
  for (const auto id : results) {
    supported = supported && made_in_body(id);
    results_text += " " + place_of(id);
  }
  if (!supported) return note_unsupported_control_flow("torch.while_loop", node);
  note_region("while " + std::to_string(begin) + " " + std::to_string(body) + " " +
                  std::to_string(emitted_) + " " + place_of(condition) + " :" + carried_text +
                  " :" + results_text,
              node, "torch.while_loop");
}

}  // namespace pt2
