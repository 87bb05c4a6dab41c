#include "core/plugin_host/node_memory.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "core/ir/graph.hpp"

namespace tmeter::core {
namespace {

bool holds_tensors(const Value& value) {
  return value.kind == TMETER_VALUE_TENSOR ||
         std::any_of(value.items.begin(), value.items.end(),
                     [](const Value* item) { return holds_tensors(*item); });
}

std::optional<size_t> argument_named(const Node& node, std::string_view name) {
  const auto at = std::find_if(node.args.begin(), node.args.end(),
                               [&](const Arg& a) { return a.name == name; });
  if (at == node.args.end()) return std::nullopt;
  return static_cast<size_t>(at - node.args.begin());
}

// --- by a schema ---

/// The node's argument for the i-th of the schema: by name, or by position if the file has no
/// names.
std::optional<size_t> place_of(const Node& node, const Schema& schema, size_t i) {
  const auto named = argument_named(node, schema.arguments[i].name);
  if (named) return named;
  return argument_named(node, "arg" + std::to_string(i)) == i ? std::optional(i) : std::nullopt;
}

ResultMemory of_argument(int32_t kind, std::optional<size_t> argument) {
  return argument ? ResultMemory{kind, *argument} : ResultMemory{};
}

/// run_decompositions() turns an operator that changes its arguments into one that returns the
/// changed arguments after its own results (after a none value if it has no result).
ResultMemory of_functionalized(const Node& node, size_t result, const Schema& schema) {
  const bool none = schema.results.empty() && node.results[0]->kind == TMETER_VALUE_NONE;
  size_t left = result - (none ? 1 : schema.results.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].written && left-- == 0)
      return of_argument(TMETER_MEMORY_ARGUMENT, place_of(node, schema, i));
  }
  return {};
}

ResultMemory by_schema(const Node& node, size_t result, const Schema& schema) {
  if (!holds_tensors(*node.results[result])) return {TMETER_MEMORY_OWN, 0};
  if (result >= schema.results.size()) return of_functionalized(node, result, schema);
  const auto& item = schema.results[result];
  if (item.memory.empty()) return {TMETER_MEMORY_OWN, 0};
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (!schema.arguments[i].shares_memory_with(item)) continue;
    if (const auto place = place_of(node, schema, i))
      return {item.written ? TMETER_MEMORY_ARGUMENT : TMETER_MEMORY_VIEW, *place};
  }
  return {};
}

// --- by the name and the class ---

std::optional<size_t> first_with_tensors(const Node& node) {
  const auto at = std::find_if(node.args.begin(), node.args.end(),
                               [](const Arg& a) { return holds_tensors(*a.value); });
  if (at == node.args.end()) return std::nullopt;
  return static_cast<size_t>(at - node.args.begin());
}

/// The argument that the operator changes and returns.
std::optional<size_t> target_of(const Node& node) {
  if (is_in_place(node.op)) return first_with_tensors(node);
  const auto out = argument_named(node, "out");
  return out && holds_tensors(*node.args[*out].value) ? out : std::nullopt;
}

/// A schema without alias letters may be hand-written and incomplete; a class of work then takes
/// precedence.
bool states_memory(const Schema& schema) {
  const auto states = [](const SchemaItem& item) { return !item.memory.empty(); };
  return std::any_of(schema.arguments.begin(), schema.arguments.end(), states) ||
         std::any_of(schema.results.begin(), schema.results.end(), states);
}

bool decides(const Schema* schema, std::string_view given_class) {
  return schema && (given_class.empty() || states_memory(*schema));
}

bool is_known(const Node& node, std::string_view given_class) {
  return !given_class.empty() || is_common_op(node.op) || is_in_place(node.op);
}

bool makes_views(const Node& node, std::string_view given_class) {
  const auto kind = given_class.empty() ? op_class(node.op) : op_class_named(given_class);
  return kind == OpClass::kView || kind == OpClass::kControl;
}

}  // namespace

ResultMemory memory_of_result(const Node& node, size_t result, const Schema* schema,
                              std::string_view given_class) {
  if (decides(schema, given_class)) return by_schema(node, result, *schema);
  if (!is_known(node, given_class)) return {};
  if (!holds_tensors(*node.results[result])) return {TMETER_MEMORY_OWN, 0};
  if (result == 0) {
    if (const auto target = target_of(node)) return {TMETER_MEMORY_ARGUMENT, *target};
  }
  if (makes_views(node, given_class))
    return of_argument(TMETER_MEMORY_VIEW, first_with_tensors(node));
  return {TMETER_MEMORY_OWN, 0};
}

std::optional<bool> writes_argument(const Node& node, size_t argument, const Schema* schema,
                                    std::string_view given_class) {
  if (!decides(schema, given_class)) {
    if (!is_known(node, given_class)) return std::nullopt;
    return target_of(node) == argument;
  }
  for (size_t i = 0; i < schema->arguments.size(); ++i) {
    if (schema->arguments[i].written && place_of(node, *schema, i) == argument) return true;
  }
  return false;
}

}  // namespace tmeter::core
