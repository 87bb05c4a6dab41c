#include "operators/missing_operators.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "operators/messages.hpp"

namespace tmeter::torch_backend {
namespace {

/// Converts arguments to values of the query's builder.
class Arguments {
 public:
  explicit Arguments(GraphBuilder builder) : builder_(builder) {}

  GraphBuilder::Id add(const c10::IValue& v) {
    if (v.isTensor()) return tensor(v.toTensor());
    if (v.isInt()) return builder_.integer(v.toInt());
    if (v.isDouble()) return builder_.real(v.toDouble());
    if (v.isBool()) return builder_.boolean(v.toBool());
    if (v.isString()) return builder_.text(v.toStringRef());
    if (v.isNone()) return builder_.none();
    std::vector<GraphBuilder::Id> items;
    if (v.isTuple()) {
      for (const auto& item : v.toTupleRef().elements()) items.push_back(add(item));
      return builder_.list(items);
    }
    if (!v.isList()) return builder_.other(v.tagKind());
    const auto list = v.toList();
    for (size_t i = 0; i < list.size(); ++i) items.push_back(add(list.get(i)));
    return builder_.list(items);
  }

 private:
  GraphBuilder::Id tensor(const at::Tensor& t) {
    if (!t.defined()) return builder_.none();
    std::vector<tmeter_dim> dims;
    for (const auto d : t.sizes()) dims.push_back(GraphBuilder::dim(d));
    return builder_.tensor_value(DType(static_cast<int32_t>(t.scalar_type())), dims);
  }

  GraphBuilder builder_;
};

at::Tensor meta_tensor(const tmeter::Value& v, const std::string& rule_name) {
  if (!v.is_tensor() || !v.dtype().known())
    throw Error(TMETER_CANNOT_RUN, rule_name + " gives " +
                                       (v.is_tensor() ? "a tensor of a type that LibTorch lacks"
                                                      : "a list with items other than tensors"));
  const auto shape = v.shape();
  return at::empty(at::IntArrayRef(shape.begin(), shape.end()),
                   at::dtype(static_cast<at::ScalarType>(v.dtype().id())).device(at::kMeta));
}

c10::IValue from_rule(const tmeter::Value& v, const std::string& rule_name) {
  switch (v.kind()) {
    case TMETER_VALUE_TENSOR:
      return meta_tensor(v, rule_name);
    case TMETER_VALUE_INT:
      return v.as_int();
    case TMETER_VALUE_FLOAT:
      return v.as_float();
    case TMETER_VALUE_BOOL:
      return v.as_bool();
    case TMETER_VALUE_LIST: {
      c10::List<at::Tensor> list;
      for (size_t i = 0; i < v.size(); ++i) list.push_back(meta_tensor(v[i], rule_name));
      return list;
    }
    default:
      return {};
  }
}

/// The index of the argument that the result aliases, `Tensor(a!) x … -> Tensor(a!)`; -1 for a new
/// result.
int argument_returned(const c10::FunctionSchema& schema, size_t result) {
  const auto* alias = schema.returns()[result].alias_info();
  if (!alias || !alias->isWrite()) return -1;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* other = schema.arguments()[i].alias_info();
    if (other && other->isWrite() && other->beforeSets() == alias->beforeSets())
      return static_cast<int>(i);
  }
  return -1;
}

c10::IValue returned(const c10::IValue& argument, const c10::IValue& given,
                     const std::string& rule_name, const std::string& name) {
  const auto has = shape_text(argument), gives = shape_text(given);
  if (has != gives)
    throw Error(TMETER_CANNOT_RUN, rule_name + " gives " + gives +
                                       " as a result that its schema declares as " + name +
                                       ", which is " + has);
  return argument;
}

bool is_of(const c10::IValue& v, const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return v.isNone() || is_of(v, type->expectRef<c10::OptionalType>().getElementType());
    case c10::TypeKind::TensorType:
      return v.isTensor();
    case c10::TypeKind::ListType:
      return v.isList();
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return v.isInt();
    case c10::TypeKind::FloatType:
      return v.isDouble();
    case c10::TypeKind::BoolType:
      return v.isBool();
    default:
      return true;
  }
}

}  // namespace

std::string shape_text(const c10::IValue& v) {
  if (v.isInt()) return std::to_string(v.toInt());
  if (!v.isTensor() && !v.isList()) return v.isNone() ? "nothing" : "a " + v.tagKind();
  std::string out;
  if (v.isTensor()) {
    for (const auto d : v.toTensor().sizes()) out += (out.empty() ? "" : ", ") + std::to_string(d);
    const auto type = static_cast<int32_t>(v.toTensor().scalar_type());
    return std::string(DType(type).code()) + "[" + out + "]";
  }
  const auto list = v.toList();
  for (size_t i = 0; i < list.size(); ++i)
    out += (out.empty() ? "" : ", ") + shape_text(list.get(i));
  return "(" + out + ")";
}

std::string rule_text(const std::string& op, const Rule& rule) {
  return "the shape rule of plugin " + rule.plugin + " for " + op;
}

void require_types(const std::string& op, const Rule& rule,
                   const std::vector<c10::IValue>& results) {
  for (size_t i = 0; i < rule.schema.returns().size(); ++i) {
    const auto type = rule.schema.returns()[i].real_type();
    if (!is_of(results[i], type))
      throw Error(TMETER_CANNOT_RUN, rule_text(op, rule) + " gives " + shape_text(results[i]) +
                                         " where its schema declares " + type->str());
  }
}

std::optional<Rule> find_rule(const Call& call, const std::string& op) {
  const auto found = ShapeQuery::find(call.handle(), op);
  if (!found) return std::nullopt;
  const std::string text(found->schema), plugin(found->plugin);
  try {
    Rule rule{torch::jit::parseSchema(text), plugin};
    // The JIT refuses schemas with aliases otherwise.
    rule.schema.setAliasAnalysis(c10::AliasAnalysisKind::FROM_SCHEMA);
    return rule;
  } catch (const std::exception& e) {
    throw Error(TMETER_CANNOT_RUN, "the schema '" + text + "' of a shape rule of plugin " + plugin +
                                       " cannot be read: " + short_reason(e));
  }
}

std::vector<c10::IValue> results_by_rule(const Call& call, const std::string& op, const Rule& rule,
                                         const torch::jit::Stack& args) {
  ShapeQuery query(call.handle());
  Arguments values(query.builder());
  std::vector<tmeter_id> ids;
  for (const auto& a : args) ids.push_back(values.add(a));
  std::vector<c10::IValue> out;
  for (const auto& r : query.infer(op, ids, rule.schema.returns().size())) {
    auto given = from_rule(r, rule_text(op, rule));
    const int i = argument_returned(rule.schema, out.size());
    if (i >= 0 && static_cast<size_t>(i) < args.size() && !args[static_cast<size_t>(i)].isNone())
      given = returned(args[static_cast<size_t>(i)], given, rule_text(op, rule),
                       rule.schema.arguments()[static_cast<size_t>(i)].name());
    out.push_back(std::move(given));
  }
  return out;
}

namespace {

std::set<std::string, std::less<>>& library_operators() {
  static auto* const names = new std::set<std::string, std::less<>>();
  return *names;
}

std::set<std::string>& opened_paths() {
  static auto* const paths = new std::set<std::string>();
  return *paths;
}

/// Never destroyed: operators live as long as the process.
std::vector<std::unique_ptr<torch::Library>>& declarations() {
  static auto* const libraries = new std::vector<std::unique_ptr<torch::Library>>();
  return *libraries;
}

std::unordered_set<std::string> all_operators() {
  std::unordered_set<std::string> out;
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames()) out.insert(op.name);
  return out;
}

/// dlopen, whose header declares that it throws nothing: the compiler then leaves out the handlers
/// around it. Initializers throw when they register an operator a second time, for example. A call
/// through this pointer keeps the handlers.
void* (*volatile throwing_dlopen)(const char*, int) = dlopen;

/// The reason why a library cannot be opened, if so.
std::optional<std::string> open_problem(const std::string& path) {
  try {
    if (throwing_dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return std::nullopt;
  } catch (const std::exception& e) {
    return short_reason(e.what());
  }
  const char* const why = dlerror();
  return why ? why : "no reason given";
}

}  // namespace

void open_operator_library(const std::string& path) {
  if (opened_paths().contains(path)) return;
  declarations().clear();  // an operator can be declared only once
  const auto before = all_operators();
  if (const auto problem = open_problem(path))
    throw Error(TMETER_BAD_USAGE, "operator library " + path + " cannot be opened: " + *problem);
  for (const auto& op : all_operators()) {
    if (!before.contains(op)) library_operators().insert(op);
  }
  opened_paths().insert(path);
}

void open_operator_libraries(std::string_view paths) {
  while (!paths.empty()) {
    const auto path = paths.substr(0, paths.find(':'));
    if (!path.empty()) open_operator_library(std::string(path));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
  }
}

bool is_of_operator_library(std::string_view op) { return library_operators().contains(op); }

void declare_operator(const std::string& op, c10::FunctionSchema schema) {
  const auto space = op.substr(0, op.find(':'));
  auto& library = declarations().emplace_back(std::make_unique<torch::Library>(
      torch::Library::FRAGMENT, space, std::nullopt, __FILE__, __LINE__));
  library->def(std::move(schema));
}

}  // namespace tmeter::torch_backend
