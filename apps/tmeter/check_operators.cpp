#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/schema.hpp>

#include "apps/tmeter/checks.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/guarded_results.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/operator_rules.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Id = GraphBuilder::Id;

constexpr int64_t kSide = 4;

std::string base_of(const std::string& op) { return op.substr(0, op.find('.')); }

CallValue value_of(int32_t kind) {
  CallValue v;
  v.kind = kind;
  return v;
}

CallValue square_value() {
  auto v = value_of(TMETER_VALUE_TENSOR);
  v.dtype = TMETER_DTYPE_FLOAT32;
  v.dims = {kSide, kSide};
  return v;
}

/// An example value of a schema's type: "Tensor", "int[]", "float?".
CallValue usual_value(std::string_view type) {
  if (type.ends_with('?')) type.remove_suffix(1);
  if (type.ends_with(']')) {
    auto list = value_of(TMETER_VALUE_LIST);
    const auto item = usual_value(type.substr(0, type.rfind('[')));
    list.items = {item, item};
    return list;
  }
  if (type.starts_with("Tensor")) return square_value();
  auto v = value_of(TMETER_VALUE_NONE);
  if (type == "int" || type == "SymInt" || type == "Scalar") v.kind = TMETER_VALUE_INT, v.i = 2;
  if (type == "float") v.kind = TMETER_VALUE_FLOAT, v.f = 0.5;
  if (type == "bool") v.kind = TMETER_VALUE_BOOL, v.i = 1;
  if (type == "str") v.kind = TMETER_VALUE_TEXT, v.text = "text";
  return v;
}

bool has_tensors(const CallValue& v) {
  return v.kind == TMETER_VALUE_TENSOR || std::ranges::any_of(v.items, has_tensors);
}

std::string value_text(const Value& value) {
  if (value.kind == TMETER_VALUE_TENSOR)
    return std::string(DType(value.dtype).code()) + shape_text(value.dims);
  if (value.kind == TMETER_VALUE_INT) return std::to_string(value.i);
  if (value.kind != TMETER_VALUE_LIST) return "a value that is not a tensor";
  std::string out;
  for (const auto* item : value.items) out += (out.empty() ? "" : ", ") + value_text(*item);
  return "(" + out + ")";
}

std::string cell_text(const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_INT) return std::to_string(n.i);
  if (n.kind == TMETER_NUMBER_ZERO_BY_RULE) return "0 by rule";
  if (!is_number(n)) return "unknown";
  std::ostringstream out;
  out << real(n);
  return out.str();
}

/// Arguments by name, in the order of the call. The schema names the positional ones.
std::vector<std::string> names_of(const OperatorCall& call, const Schema* schema) {
  std::vector<std::string> out;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    auto name = call.arguments[i].name;
    if (name.empty())
      name = schema && i < schema->arguments.size() ? std::string(schema->arguments[i].name)
                                                    : "arg" + std::to_string(i);
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace

struct OperatorCheck::Trial {
  std::unique_ptr<Graph> graph;
  size_t node = 0;
  std::string given;  // by the shape rule
};

OperatorCheck::OperatorCheck(Registry& registry, Plugin& plugin, CallLog& log,
                             const HardwareSource& hardware, CheckLines& lines)
    : registry_(registry), plugin_(plugin), log_(log), hardware_(hardware), lines_(lines) {
  std::set<std::string> ids{plugin.manifest.id};
  for (const auto& h : plugin.offered.op_handlers) {
    for (const auto& p : registry.plugins()) {
      const bool own = p->failure.empty() && !p->library.empty();
      if (own && std::ranges::count(p->manifest.metrics, view(h.metric)))
        ids.insert(p->manifest.id);
    }
  }
  plugins_ = registry.open_with_needs({ids.begin(), ids.end()});
}

void OperatorCheck::try_all() {
  std::set<std::string> ops;
  for (const auto& r : plugin_.offered.shape_rules) ops.emplace(op_of_schema(view(r.schema)));
  for (const auto& h : plugin_.offered.op_handlers) {
    if (view(h.op) != "*") ops.insert(str(h.op));
  }
  for (const auto& op : ops) try_one(usual_call(op), false);
  for (const auto& c : plugin_.offered.op_classes) try_class(c);
}

void OperatorCheck::try_call(const OperatorCall& call) {
  if (!rule_of(call.op) && !handles(call.op))
    return lines_.bad(printable(call.text) + ": the plugin has no handler and no shape rule for " +
                      call.op);
  try_one(call, true);
}

void OperatorCheck::try_one(const OperatorCall& call, bool by_user) {
  const auto name = by_user ? printable(call.text) : call.op;
  try {
    const auto trial = make(call, {"fc", 1});
    if (rule_of(call.op)) lines_.fine(name + " gives " + trial.given);
    if (handles(call.op)) report_values(call, name);
  } catch (const PluginError& e) {
    lines_.bad(e.what());
  } catch (const Error& e) {
    lines_.note(name + (by_user ? " is refused: " : " could not be tried on tensors of 4 × 4: ") +
                e.what());
  }
}

void OperatorCheck::report_values(const OperatorCall& call, const std::string& name) {
  static constexpr std::array<Place, 4> kPlaces{{{"fc", 1}, {"a.b", 5}, {"fc", 1}, {"last", 0}}};
  MetricValues first;
  for (const auto& place : kPlaces) {
    const auto values = values_of(make(call, place));
    if (first.empty()) first = values;
    for (const auto& [metric, value] : values) {
      if (first[metric] == value) continue;
      const auto words = name + ": " + metric + " is " + first[metric] + " and then " + value +
                         " for the same call";
      return has_signature_handlers(call.op)
                 ? lines_.bad(
                       words +
                       ", although the handler declares that it depends only on the signature "
                       "(handlers_by_signature)")
                 : lines_.note(words);
    }
  }
  std::string text;
  for (const auto& [metric, value] : first)
    text += (text.empty() ? ": " : ", ") + metric + " " + value;
  lines_.fine("handles " + name + text);
}

void OperatorCheck::try_class(const tmeter_op_class& c) {
  const auto words = str(c.op) + " is declared as work of the class '" + str(c.name) + "'";
  const bool is_known = name_of(op_class_named(view(c.name))) == view(c.name);
  is_known ? lines_.fine(words) : lines_.bad(words + ", which is unknown to tmeter");
}

const tmeter_shape_rule* OperatorCheck::rule_of(const std::string& op) const {
  for (const auto& candidate : {op, base_of(op)}) {
    for (const auto& r : plugin_.offered.shape_rules) {
      if (op_of_schema(view(r.schema)) == candidate) return &r;
    }
  }
  return nullptr;
}

bool OperatorCheck::handles(const std::string& op) const {
  return std::ranges::any_of(plugin_.offered.op_handlers, [&](const tmeter_op_handler& h) {
    return view(h.op) == op || view(h.op) == base_of(op) || view(h.op) == "*";
  });
}

bool OperatorCheck::has_signature_handlers(const std::string& op) const {
  return std::ranges::any_of(plugin_.offered.op_handlers, [&](const tmeter_op_handler& h) {
    const bool matches = view(h.op) == op || view(h.op) == base_of(op) || view(h.op) == "*";
    return matches && (h.flags & TMETER_HANDLER_BY_SIGNATURE);
  });
}

/// The operator's schema names the arguments. Without a schema they get common names.
OperatorCall OperatorCheck::usual_call(const std::string& op) const {
  OperatorCall out{op, op, {}, {}};
  if (const auto* rule = rule_of(op)) {
    for (const auto& a : Schema(view(rule->schema)).arguments)
      out.arguments.push_back({std::string(a.name), usual_value(a.type)});
  } else {
    for (const auto* name : {"input", "self", "x", "other", "weight"})
      out.arguments.push_back({name, square_value()});
  }
  return out;
}

OperatorCheck::Trial OperatorCheck::make(const OperatorCall& call, const Place& place) {
  tmeter_builder builder;
  builder.call = &plugin_.call;
  auto& b = builder.builder;
  const Id root = b.module(0, "", "Net"), root_call = b.module_call(root, 0);
  const Id module = b.module(root, place.module, "Module"),
           inside = b.module_call(module, root_call);
  const auto* rule = rule_of(call.op);
  const auto schema = rule ? std::optional<Schema>(view(rule->schema)) : std::nullopt;
  const auto names = names_of(call, schema ? &*schema : nullptr);
  std::vector<Id> arguments;
  for (size_t i = 0; i < names.size(); ++i) {
    arguments.push_back(add_value(b, call.arguments[i].value));
    if (has_tensors(call.arguments[i].value)) b.input(names[i], "given", arguments.back());
  }
  for (int i = 0; i < place.before; ++i) {
    const Id x = add_value(b, square_value()), y = add_value(b, square_value());
    b.input("before" + std::to_string(i), "given", x);
    b.node("aten::relu", "", root_call, {{std::pair<std::string_view, Id>{"self", x}}}, {{y}}, "");
  }
  std::vector<Id> results;
  if (rule) {
    results = infer(*rule, call, builder, arguments);
  } else {
    for (const auto& r : call.results) results.push_back(add_value(b, r));
    if (results.empty()) results.push_back(add_value(b, square_value()));
  }
  Trial out;
  for (const auto id : results)
    out.given += (out.given.empty() ? "" : " and ") + value_text(*b.peek(id));
  if (results.empty()) out.given = "no result, as declared";
  std::vector<std::pair<std::string_view, Id>> named;
  for (size_t i = 0; i < names.size(); ++i) named.emplace_back(names[i], arguments[i]);
  const auto dot = call.op.find('.');
  b.node(base_of(call.op), dot == call.op.npos ? "" : call.op.substr(dot + 1), inside, named,
         results, "");
  out.node = static_cast<size_t>(place.before);
  out.graph = b.finish();
  return out;
}

/// The ids of the results that the rule gives.
std::vector<Id> OperatorCheck::infer(const tmeter_shape_rule& rule, const OperatorCall& call,
                                     tmeter_builder& builder, const std::vector<Id>& arguments) {
  const Schema schema(view(rule.schema));
  const auto names = names_of(call, &schema);
  std::vector<const tmeter_value*> values(schema.arguments.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = std::ranges::find(schema.arguments, names[i], &SchemaItem::name);
    if (at == schema.arguments.end())
      throw Error(ErrorKind::kModel, "the schema has no argument '" + names[i] + "'");
    values[static_cast<size_t>(at - schema.arguments.begin())] =
        to_handle(builder.builder.peek(arguments[i]));
  }
  const auto doing = "while giving the shape of " + call.op;
  const GuardedResults room(schema.results.size());
  builder.of_rule = true;
  invoke(plugin_.call, doing, [&](auto* c) {
    return rule.infer(c, values.data(), values.size(), &builder, room.ids().data(),
                      room.ids().size(), rule.user);
  });
  builder.of_rule = false;
  if (!room.intact())
    throw PluginError(plugin_.manifest.id, doing,
                      "its shape rule writes beyond the array for its results");
  std::vector<Id> out(room.ids().begin(), room.ids().end());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto* value = builder.builder.peek(out[i]);
    if (!value)
      throw PluginError(plugin_.manifest.id, doing, "its shape rule does not give all results");
    const bool tensor = schema.results[i].type.starts_with("Tensor");
    const bool list = schema.results[i].type.ends_with(']');
    const int32_t expected_kind = list ? TMETER_VALUE_LIST : TMETER_VALUE_TENSOR;
    const bool none = schema.results[i].type.ends_with('?') && value->kind == TMETER_VALUE_NONE;
    if (tensor && value->kind != expected_kind && !none)
      throw PluginError(plugin_.manifest.id, doing,
                        "its shape rule gives " + value_text(*value) +
                            " where its schema declares " + std::string(schema.results[i].type));
  }
  return out;
}

OperatorCheck::MetricValues OperatorCheck::values_of(const Trial& trial) {
  Engine engine(*trial.graph, plugins_, log_, &hardware_);
  const auto results = engine.run();
  std::set<std::string_view> handled;
  for (const auto& h : plugin_.offered.op_handlers) handled.insert(view(h.metric));
  MetricValues out;
  for (const auto& c : results.columns) {
    if (c.axis == TMETER_AXIS_NODE && handled.contains(c.id))
      out[c.id] = cell_text(c.cell(TMETER_AXIS_NODE, trial.node));
  }
  return out;
}

}  // namespace tmeter::app
