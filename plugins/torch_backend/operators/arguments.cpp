#include "operators/arguments.hpp"

#include <array>

namespace tmeter::torch_backend {
namespace {

using c10::IValue;
using c10::TypeKind;

[[noreturn]] void unusable(const std::string& what) { throw std::runtime_error(what); }

at::Tensor meta_tensor(const Value& value) {
  if (!value.dtype().known()) unusable("uses a tensor of a type that LibTorch does not have");
  const auto options = at::dtype(static_cast<at::ScalarType>(value.dtype().id())).device(at::kMeta);
  const auto shape = value.shape();
  const at::IntArrayRef dims(shape.begin(), shape.end());
  const auto* stored = value.tensor().handle();
  if (!stored) return at::empty(dims, options);
  const auto strides = detail::graph_api().tensor_strides(stored);
  return at::empty_strided(dims, at::IntArrayRef(strides.ptr, strides.len), options);
}

/// Operators accept numbers in place of tensors: x + 1.
at::Tensor tensor_of_number(const IValue& n) {
  auto tensor = c10::scalar_to_tensor(n.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

template <class T>
struct Named {
  std::string_view name;
  T value;
};
// Names as .pt2 files write them and as LibTorch prints them.
constexpr std::array<Named<at::Layout>, 9> kLayouts{{{"strided", at::kStrided},
                                                     {"Strided", at::kStrided},
                                                     {"Sparse", at::kSparse},
                                                     {"SparseCsr", at::kSparseCsr},
                                                     {"Mkldnn", at::kMkldnn},
                                                     {"sparse_coo", at::kSparse},
                                                     {"sparse_csr", at::kSparseCsr},
                                                     {"sparse_csc", at::kSparseCsc},
                                                     {"mkldnn", at::kMkldnn}}};
constexpr std::array<Named<at::MemoryFormat>, 8> kFormats{
    {{"contiguous_format", at::MemoryFormat::Contiguous},
     {"Contiguous", at::MemoryFormat::Contiguous},
     {"ChannelsLast", at::MemoryFormat::ChannelsLast},
     {"ChannelsLast3d", at::MemoryFormat::ChannelsLast3d},
     {"Preserve", at::MemoryFormat::Preserve},
     {"channels_last", at::MemoryFormat::ChannelsLast},
     {"channels_last_3d", at::MemoryFormat::ChannelsLast3d},
     {"preserve_format", at::MemoryFormat::Preserve}}};

template <class T, size_t N>
IValue by_name(const std::array<Named<T>, N>& table, std::string_view name) {
  for (const auto& entry : table) {
    if (entry.name == name) return IValue(entry.value);
  }
  return {};
}

IValue to_list(const Value& value, const c10::TypePtr& element, int32_t length, Environment& env) {
  c10::impl::GenericList list(element);
  if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) list.push_back(to_ivalue(value[i], element, env));
  } else {  // int[2] given as one number
    for (int32_t i = 0; i < std::max(length, 1); ++i) {
      list.push_back(to_ivalue(value, element, env));
    }
  }
  return list;
}

IValue to_scalar_type(const Value& value) {
  return static_cast<int64_t>(static_cast<at::ScalarType>(value.as_int()));
}

}  // namespace

c10::TypePtr type_of_argument(const c10::Argument& argument) {
  auto real = argument.real_type();
  if (const auto optional = real->cast<c10::OptionalType>()) real = optional->getElementType();
  switch (real->kind()) {
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::ScalarTypeType:
    case TypeKind::DeviceObjType:
      return real;
    default:
      return argument.type();
  }
}

IValue to_argument(const Value& value, const c10::TypePtr& type, int32_t length, Environment& env) {
  const auto* list = type->castRaw<c10::ListType>();
  return list && !value.is_none() ? to_list(value, list->getElementType(), length, env)
                                  : to_ivalue(value, type, env);
}

at::Tensor Environment::tensor(const Value& value) {
  if (const auto* found = find(value)) return found->toTensor();
  auto made = meta_tensor(value);
  if (value.tensor()) set(value, made);
  return made;
}

IValue number(const Value& value, const Environment& environment) {
  if (const auto* found = environment.find(value)) return *found;
  switch (value.kind()) {
    case TMETER_VALUE_INT:
      return value.as_int();
    case TMETER_VALUE_FLOAT:
      return value.as_float();
    case TMETER_VALUE_BOOL:
      return value.as_bool();
    default:
      unusable("has '" + std::string(value.text()) + "' where a number is needed");
  }
}

IValue to_ivalue(const Value& value, const c10::TypePtr& type, Environment& env) {
  if (value.is_none()) return {};
  switch (type->kind()) {
    case TypeKind::OptionalType:
      return to_ivalue(value, type->expectRef<c10::OptionalType>().getElementType(), env);
    case TypeKind::TensorType:
      return value.is_tensor() ? env.tensor(value) : tensor_of_number(number(value, env));
    case TypeKind::ListType:
      return to_list(value, type->expectRef<c10::ListType>().getElementType(), 1, env);
    case TypeKind::NumberType:
      return number(value, env);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      if (value.kind() == TMETER_VALUE_DTYPE) return to_scalar_type(value);
      if (value.kind() == TMETER_VALUE_OTHER) break;
      return number(value, env).toScalar().toLong();
    case TypeKind::FloatType:
      return number(value, env).toScalar().toDouble();
    case TypeKind::BoolType:
      return number(value, env).toScalar().toBool();
    case TypeKind::StringType:
      return std::string(value.text());
    case TypeKind::ScalarTypeType:
      return to_scalar_type(value);
    case TypeKind::LayoutType:
      return by_name(kLayouts, value.text());
    case TypeKind::MemoryFormatType:
      return by_name(kFormats, value.text());
    case TypeKind::DeviceObjType:
      return at::Device(at::kCPU);  // the evaluator replaces it
    case TypeKind::GeneratorType:
      return {};
    default:
      break;
  }
  unusable("has an argument of the type " + type->str() + ", which a .pt2 file cannot give here");
}

Value argument_of(const Node& node, const c10::FunctionSchema& schema, size_t i) {
  const auto named = node.arg(schema.arguments()[i].name());
  if (named.handle()) return named;
  const auto by_place = "arg" + std::to_string(i);
  return i < node.arg_count() && node.arg_name(i) == by_place ? node.arg(i) : Value();
}

torch::jit::Stack arguments_of(const Node& node, const c10::FunctionSchema& schema,
                               Environment& env) {
  torch::jit::Stack stack;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto& argument = schema.arguments()[i];
    const auto value = argument_of(node, schema, i);
    if (value.handle()) {
      stack.push_back(
          to_argument(value, type_of_argument(argument), argument.N().value_or(1), env));
    } else if (argument.default_value()) {
      stack.push_back(*argument.default_value());
    } else if (argument.type()->kind() == TypeKind::OptionalType) {
      stack.emplace_back();
    } else {
      unusable("lacks its argument '" + argument.name() + "'");
    }
  }
  return stack;
}

}  // namespace tmeter::torch_backend
