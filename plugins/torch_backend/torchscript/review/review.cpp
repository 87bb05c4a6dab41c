#include "torchscript/review/review.hpp"

#include <ATen/core/class_type.h>

#include <algorithm>
#include <unordered_map>

#include "torchscript/review/lists.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::TypeKind;

constexpr std::string_view kVariable = "has arguments that its schema does not describe";
constexpr std::string_view kNotPure =
    "takes or returns more than tensors, numbers and known options";
constexpr std::string_view kNoOperand = "computes without any of its arguments";
constexpr std::string_view kUnknownPrimitive =
    "is not among the operators of TorchScript that tmeter runs for a model file";

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view listed_refusal(std::string_view name) {
  const auto space = name.substr(0, name.find(':'));
  for (const auto& [refused, reason] : refused_operators()) {
    if (refused == name ||
        (refused.ends_with("::*") && refused.substr(0, refused.size() - 3) == space))
      return reason;
  }
  return {};
}

bool has_overload(std::string_view overloads, std::string_view overload) {
  if (overload.empty()) overload = "-";
  while (!overloads.empty()) {
    const auto one = overloads.substr(0, overloads.find(' '));
    if (one == overload) return true;
    overloads.remove_prefix(std::min(one.size() + 1, overloads.size()));
  }
  return false;
}

bool listed_primitive(const c10::FunctionSchema& schema) {
  static const auto* const by_name = [] {
    auto* map = new std::unordered_map<std::string_view, std::string_view>();
    for (const auto& [name, overloads] : primitives()) map->emplace(name, overloads);
    return map;
  }();
  const auto found = by_name->find(schema.name());
  return found != by_name->end() && has_overload(found->second, schema.overload_name());
}

bool holds_weights(const c10::Type& type) {
  const auto* cls = type.castRaw<c10::ClassType>();
  const auto name = cls && cls->name() ? cls->name()->qualifiedName() : std::string();
  return std::any_of(weight_classes().begin(), weight_classes().end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Whether `fits` holds for the type, or for every type in a list, tuple or optional.
template <class Fits>
bool made_of(const c10::Type& type, const Fits& fits) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
    case TypeKind::ListType:
    case TypeKind::TupleType:
      return std::all_of(type.containedTypes().begin(), type.containedTypes().end(),
                         [&](const auto& inner) { return made_of(*inner, fits); });
    default:
      return fits(type);
  }
}

/// Dtypes, layouts, memory formats and schemes are numbers in TorchScript.
bool is_number_or_option(TypeKind kind) {
  switch (kind) {
    case TypeKind::NumberType:
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
    case TypeKind::ComplexType:
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
    case TypeKind::DeviceObjType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::GeneratorType:
    case TypeKind::QSchemeType:
    case TypeKind::NoneType:
      return true;
    default:
      return false;
  }
}

bool plain_argument(const c10::Argument& argument) {
  return made_of(*argument.type(), [&](const c10::Type& type) {
    if (type.kind() == TypeKind::StringType) return contains(option_names(), argument.name());
    return type.kind() == TypeKind::TensorType || is_number_or_option(type.kind()) ||
           holds_weights(type);
  });
}

bool plain_result(const c10::Argument& result) {
  return made_of(*result.type(), [&](const c10::Type& type) {
    return type.kind() == TypeKind::TensorType || is_number_or_option(type.kind()) ||
           holds_weights(type);
  });
}

/// A tensor, weights, or the device of a new tensor, which then has only a shape.
bool is_operand(const c10::Argument& argument) {
  return !made_of(*argument.type(), [](const c10::Type& type) {
    return type.kind() != TypeKind::TensorType && type.kind() != TypeKind::DeviceObjType &&
           !holds_weights(type);
  });
}

std::string_view refusal_of_dispatched(const c10::FunctionSchema& schema) {
  if (contains(harmless_operators(), schema.name())) return {};
  if (schema.is_vararg() || schema.is_varret()) return kVariable;
  const auto& arguments = schema.arguments();
  const auto& returns = schema.returns();
  if (!std::all_of(arguments.begin(), arguments.end(), plain_argument) ||
      !std::all_of(returns.begin(), returns.end(), plain_result))
    return kNotPure;
  if (std::none_of(arguments.begin(), arguments.end(), is_operand)) return kNoOperand;
  return {};
}

/// Tensors go through the dispatcher, and flags have two values; numbers of the file could be
/// anything.
bool tensors_and_flags(const c10::FunctionSchema& schema) {
  const auto plain = [](const c10::Argument& argument) {
    return made_of(*argument.type(), [](const c10::Type& type) {
      switch (type.kind()) {
        case TypeKind::TensorType:
        case TypeKind::BoolType:
        case TypeKind::FloatType:
        case TypeKind::DeviceObjType:
          return true;
        default:
          return false;
      }
    });
  };
  const auto& arguments = schema.arguments();
  const bool tensor = std::any_of(arguments.begin(), arguments.end(), is_operand);
  return tensor && std::all_of(arguments.begin(), arguments.end(), plain) &&
         std::all_of(schema.returns().begin(), schema.returns().end(), plain_result);
}

std::string_view refusal_of_primitive(const c10::FunctionSchema& schema) {
  if (listed_primitive(schema)) return {};
  const std::string_view name = schema.name();
  const bool own = name.starts_with("aten::") || name.starts_with("prim::");
  if (own && !schema.is_vararg() && !schema.is_varret() && tensors_and_flags(schema)) return {};
  return kUnknownPrimitive;
}

}  // namespace

std::string_view refusal(const c10::FunctionSchema& schema, OperatorKind kind) {
  if (const auto reason = listed_refusal(schema.name()); !reason.empty()) return reason;
  return kind == OperatorKind::kDispatched ? refusal_of_dispatched(schema)
                                           : refusal_of_primitive(schema);
}

std::string_view refusal_of_construct(std::string_view name) {
  if (const auto reason = listed_refusal(name); !reason.empty()) return reason;
  return name.starts_with("prim::") ? std::string_view() : kUnknownPrimitive;
}

}  // namespace tmeter::torch_backend
