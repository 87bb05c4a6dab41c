#include "operators/operator_info.hpp"

#include <ATen/core/enum_tag.h>

namespace tmeter::torch_backend {
namespace {

ArgKind kind_of(const c10::Argument& argument) {
  auto type = argument.real_type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  switch (type->kind()) {
    case c10::TypeKind::DeviceObjType:
      return ArgKind::kDevice;
    case c10::TypeKind::ScalarTypeType:
      return ArgKind::kDtype;
    case c10::TypeKind::LayoutType:
      return ArgKind::kLayout;
    case c10::TypeKind::MemoryFormatType:
      return ArgKind::kMemoryFormat;
    default:
      return ArgKind::kPlain;
  }
}

bool is_uninitialised(const std::string& name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty");
}

}  // namespace

OperatorInfo::OperatorInfo(const c10::OperatorHandle& op) {
  const auto& schema = op.schema();
  name = schema.name();
  overload = schema.overload_name();
  results = schema.returns().size();
  for (const auto& a : schema.arguments()) {
    args.push_back({a.name(), kind_of(a), a.alias_info() && a.alias_info()->isWrite()});
  }
  for (const auto& r : schema.returns()) returns_alias = returns_alias || r.alias_info();
  data_dependent =
      op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
  uninitialised = is_uninitialised(name);
}

}  // namespace tmeter::torch_backend
