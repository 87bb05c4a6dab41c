#include "operators/operator_info.hpp"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>

#include "operators/evaluator.hpp"

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

namespace {

using torch::jit::Stack;

constexpr std::array<std::string_view, 4> kRecurrent{"aten::lstm", "aten::gru", "aten::rnn_tanh",
                                                     "aten::rnn_relu"};

void check_state(const at::Tensor& state, int64_t batch) {
  if (state.dim() != 3 || state.size(1) == batch) return;
  throw std::runtime_error("expects a hidden state for " + std::to_string(batch) +
                           " samples, got one for " + std::to_string(state.size(1)));
}

/// Operators that split a tensor into a list.
constexpr std::string_view kSplitting[] = {
    "aten::chunk",        "aten::dsplit",       "aten::hsplit", "aten::split",
    "aten::split_copy",   "aten::tensor_split", "aten::unbind", "aten::unbind_copy",
    "aten::unsafe_chunk", "aten::unsafe_split", "aten::vsplit"};

}  // namespace

const c10::IValue* argument_named(const OperatorInfo& info, const Stack& args,
                                  std::string_view name) {
  for (size_t i = 0; i < info.args.size() && i < args.size(); ++i) {
    if (info.args[i].name == name) return &args[i];
  }
  return nullptr;
}

void check_hidden_state(const OperatorInfo& op, const Stack& args) {
  if (op.overload != "input") return;
  if (std::find(kRecurrent.begin(), kRecurrent.end(), op.name) == kRecurrent.end()) return;
  const auto* input = argument_named(op, args, "input");
  const auto* hx = argument_named(op, args, "hx");
  const auto* batch_first = argument_named(op, args, "batch_first");
  if (!input || !hx || !batch_first || !input->isTensor() || input->toTensor().dim() != 3) return;
  const int64_t batch = input->toTensor().size(batch_first->toBool() ? 0 : 1);
  if (hx->isTensor()) return check_state(hx->toTensor(), batch);
  for (const at::Tensor& state : hx->toTensorVector()) check_state(state, batch);
}

void check_enums(const OperatorInfo& info, const Stack& args) {
  const auto at_most = [&](size_t i, int64_t count) {
    TORCH_CHECK(!args[i].isInt() || (args[i].toInt() >= 0 && args[i].toInt() < count),
                "the argument '", info.args[i].name, "' of ", info.name,
                " has an impossible value");
  };
  for (size_t i = 0; i < info.args.size() && i < args.size(); ++i) {
    if (info.args[i].kind == ArgKind::kDtype)
      at_most(i, static_cast<int64_t>(at::ScalarType::Undefined));
    if (info.args[i].kind == ArgKind::kLayout)
      at_most(i, static_cast<int64_t>(at::Layout::NumOptions));
    if (info.args[i].kind == ArgKind::kMemoryFormat)
      at_most(i, static_cast<int64_t>(at::MemoryFormat::NumOptions));
  }
}

bool plain_tensors(const Stack& args) {
  bool plain = true;
  for (const auto& a : args) {
    for_each_tensor(a, [&](const at::Tensor& t) {
      plain = plain && t.layout() == at::kStrided && !t.is_quantized() && !t.is_nested();
    });
  }
  return plain;
}

void check_repeats(const OperatorInfo& info, const Stack& args) {
  const auto* repeats = argument_named(info, args, "repeats");
  if (!repeats || !repeats->isTensor() || !repeats->toTensor().defined()) return;
  const auto& t = repeats->toTensor();
  if (t.is_meta() || t.numel() == 0) return;
  const auto sum = t.to(at::kDouble).sum().item<double>();
  TORCH_CHECK(at::isIntegralType(t.scalar_type(), false) && t.min().item<int64_t>() >= 0 &&
                  sum < static_cast<double>(int64_t{1} << 40),
              "repeats elements too often (", info.name, ")");
}

uint64_t parts_of(const OperatorInfo& info, const Stack& args) {
  const auto it = std::find(std::begin(kSplitting), std::end(kSplitting), info.name);
  if (it == std::end(kSplitting) || args.empty() || !args[0].isTensor()) return 0;
  const auto& t = args[0].toTensor();
  const auto number = [&](std::string_view name) -> int64_t {
    const auto* v = argument_named(info, args, name);
    if (v && v->isInt()) return v->toInt();
    const bool value = v && v->isTensor() && !v->toTensor().is_meta() && v->toTensor().numel() == 1;
    return value ? v->toTensor().item<int64_t>() : -1;
  };
  for (const std::string_view count : {"chunks", "sections", "tensor_indices_or_sections"}) {
    if (number(count) > 0) return static_cast<uint64_t>(number(count));
  }
  const auto dim = number("dim");
  const auto size = dim >= -t.dim() && dim < t.dim() ? t.size(dim) : 0;
  const auto each = info.name.starts_with("aten::unbind") ? 1 : number("split_size");
  return each > 0 ? static_cast<uint64_t>(size / each) + 1 : 0;
}

}  // namespace tmeter::torch_backend
