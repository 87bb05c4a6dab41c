#include "rules.hpp"

#include "replayed_sizes.hpp"

namespace tmeter::resize {
namespace {

/// The recorded value in a form that can be compared; None if it has no such form.
c10::IValue recorded(const Value& v) {
  if (v.is_tensor()) {
    if (!v.dtype().known()) return {};
    const auto shape = v.shape();
    return at::empty(at::IntArrayRef(shape.begin(), shape.end()),
                     at::dtype(static_cast<at::ScalarType>(v.dtype().id())).device(at::kMeta));
  }
  if (v.kind() == TMETER_VALUE_INT) return v.as_int();
  if (!v.is_list()) return {};
  c10::impl::GenericList items(c10::AnyType::get());
  for (size_t i = 0; i < v.size(); ++i) items.push_back(recorded(v[i]));
  return items;
}

/// Element type and rank, which do not depend on sizes: "f32 of rank 3".
std::string kind_text(const c10::IValue& v) {
  if (v.isTensor()) {
    const auto& t = v.toTensor();
    return std::string(DType(static_cast<int32_t>(t.scalar_type())).code()) + " of rank " +
           std::to_string(t.dim());
  }
  if (!v.isList()) return v.isNone() ? "nothing" : "a " + v.tagKind();
  const auto list = v.toList();
  std::string out;
  for (size_t i = 0; i < list.size(); ++i)
    out += (out.empty() ? "" : ", ") + kind_text(list.get(i));
  return "(" + out + ")";
}

/// run_decompositions() turns an operator that changes its arguments into one that returns them as
/// further results. An operator without a result of its own gets None as the first one.
void add_changed(const Node& node, const c10::FunctionSchema& schema, const torch::jit::Stack& args,
                 std::vector<c10::IValue>& results) {
  if (node.result_count() <= results.size()) return;
  if (results.empty() && node.result(0).is_none()) results.emplace_back();
  for (size_t i = 0; i < schema.arguments().size() && results.size() < node.result_count(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->isWrite()) results.push_back(args[i]);
  }
}

std::string in_module(const Node& node) {
  const auto path = std::string(node.call().module().path());
  return path.empty() ? "" : ", in " + path;
}

}  // namespace

bool is_of_libtorch(const Node& node) {
  return c10::Dispatcher::singleton()
      .findSchema({std::string(node.op()), std::string(node.overload())})
      .has_value();
}

const Rule* Rules::find(const Node& node) {
  const auto op = full_name(node);
  auto it = rules_.find(op);
  if (it == rules_.end()) it = rules_.emplace(op, find_rule(call_, op)).first;
  if (!it->second) return nullptr;
  if (checked_.insert(node.index()).second) require_recorded(node, *it->second);
  return &*it->second;
}

std::vector<std::string_view> Rules::size_arguments(const Node& node) {
  std::vector<std::string_view> out;
  const auto* rule = is_of_libtorch(node) ? nullptr : find(node);
  if (!rule) return out;
  for (const auto& argument : rule->schema.arguments()) {
    auto type = argument.real_type();
    if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    if (const auto list = type->cast<c10::ListType>()) type = list->getElementType();
    if (type->kind() == c10::TypeKind::SymIntType) out.push_back(argument.name());
  }
  return out;
}

std::vector<c10::IValue> Rules::results(const Node& node, const Rule& rule,
                                        const torch::jit::Stack& args) const {
  auto given = given_by(node, rule, args);
  require_types(full_name(node), rule, given);
  for (size_t i = 0; i < given.size() && i < node.result_count(); ++i) {
    const auto has = recorded(node.result(i));
    if (!has.isNone() && kind_text(has) != kind_text(given[i]))
      throw Error(TMETER_CANNOT_RUN, rule_text(full_name(node), rule) + " gives " +
                                         kind_text(given[i]) +
                                         " for these inputs where the file "
                                         "records " +
                                         kind_text(has) + in_module(node));
  }
  return given;
}

std::vector<c10::IValue> Rules::given_by(const Node& node, const Rule& rule,
                                         const torch::jit::Stack& args) const {
  auto given = results_by_rule(call_, full_name(node), rule, args);
  add_changed(node, rule.schema, args, given);
  return given;
}

void Rules::require_recorded(const Node& node, const Rule& rule) const {
  const auto refuse = [&](const std::string& what) {
    throw Error(TMETER_CANNOT_RUN, rule_text(full_name(node), rule) +
                                       " does not fit this model: " + what + in_module(node));
  };
  std::vector<c10::IValue> given;
  try {
    Environment as_recorded;
    given = given_by(node, rule, arguments_of(node, rule.schema, as_recorded));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    refuse(std::string("it refuses the recorded call: ") + e.what());
  }
  if (given.size() != node.result_count())
    refuse("its schema has " + std::to_string(given.size()) + " results, the file " +
           std::to_string(node.result_count()));
  for (size_t i = 0; i < given.size(); ++i) {
    const auto expected = recorded(node.result(i));
    const auto has = shape_text(expected), gives = shape_text(given[i]);
    if (!expected.isNone() && has != gives)
      refuse("it gives " + gives + " where the file records " + has);
  }
}

}  // namespace tmeter::resize
