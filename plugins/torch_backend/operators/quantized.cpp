#include "operators/quantized.hpp"

#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <array>
#include <utility>

#include "operators/evaluator.hpp"

namespace tmeter::torch_backend {
namespace {

/// A vector, because g++ 12 warns about the inline form of TupleElements (-Warray-bounds).
std::vector<c10::IValue> fields_of(const c10::IValue& tuple) {
  return tuple.toTupleRef().elements().vec();
}

constexpr std::string_view kClasses = "__torch__.torch.classes.quantized.";
constexpr std::string_view kLinear = "LinearPackedParamsBase";
constexpr std::array<std::string_view, 2> kConvolutions{"Conv2dPackedParamsBase",
                                                        "Conv3dPackedParamsBase"};

/// "LinearPackedParamsBase"; empty for a class that is not a packed one of LibTorch.
std::string packed_class(const c10::Type& type) {
  const auto* cls = type.castRaw<c10::ClassType>();
  if (!cls || !cls->name()) return {};
  const auto name = cls->name()->qualifiedName();
  return name.starts_with(kClasses) ? name.substr(kClasses.size()) : std::string();
}

bool is_convolution(const c10::Type& type) {
  const auto name = packed_class(type);
  return std::find(kConvolutions.begin(), kConvolutions.end(), name) != kConvolutions.end();
}

// An object holds (weight, bias, stride, padding, dilation, output padding, groups, transposed).
c10::IValue object_of(const c10::ClassTypePtr& type, std::vector<c10::IValue> kept) {
  auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), 1);
  object->setSlot(0, c10::ivalue::Tuple::create(std::move(kept)));
  return object;
}

c10::IValue ints(const c10::IValue& tuple) {
  std::vector<int64_t> out;
  for (const auto& item : tuple.toTupleRef().elements()) out.push_back(item.toInt());
  return out;
}

/// The state of convolutions in torch.ao.nn.quantized: their attributes in this order, then weight,
/// bias, scale, zero point and the training flag.
constexpr std::array<const char*, 10> kAttributes{
    "in_channels", "out_channels", "kernel_size",    "stride", "padding",
    "dilation",    "transposed",   "output_padding", "groups", "padding_mode"};
constexpr size_t kStride = 3, kPadding = 4, kDilation = 5, kTransposed = 6, kOutputPadding = 7,
                 kGroups = 8, kWeight = 10, kBias = 11, kScale = 12, kZeroPoint = 13,
                 kTraining = 14, kCount = 15;

std::vector<int64_t> numbers_of(const c10::IValue& value) {
  if (value.isIntList()) return value.toIntVector();
  std::vector<int64_t> out;
  for (const auto& size : value.toSymIntVector()) out.push_back(size.guard_int(__FILE__, __LINE__));
  return out;
}

/// Replaces every factory of quantized tensors: the result has neither values nor scales.
void empty_quantized(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto args = torch::jit::pop(*stack, schema.arguments().size());
  const auto place = schema.argumentIndexWithName("dtype");
  const auto& dtype = args[static_cast<size_t>(place.value())];
  const auto type = dtype.isNone() ? at::kQInt8 : dtype.toScalarType();
  const auto strides = schema.argumentIndexWithName("stride");
  stack->push_back(at::Tensor(
      strides ? at::detail::empty_strided_meta(
                    numbers_of(args[0]), numbers_of(args[static_cast<size_t>(*strides)]), type)
              : at::detail::empty_meta(numbers_of(args[0]), type, std::nullopt)));
}

/// Name and overload. Where LibTorch has a kernel, it stays.
constexpr std::array<std::pair<const char*, const char*>, 4> kFactories{
    {{"_empty_affine_quantized", ""},
     {"_empty_per_channel_affine_quantized", ""},
     {"empty", "memory_format"},
     {"empty_strided", ""}}};

}  // namespace

std::optional<c10::IValue> packed_object(const c10::ClassTypePtr& type, const c10::IValue& state) {
  if (packed_class(*type) != kLinear || !state.isTuple()) return std::nullopt;
  const auto fields = fields_of(state);
  if (fields.size() != 2 || !fields[0].isTensor()) return std::nullopt;
  return object_of(type, {fields[0], fields[1]});
}

std::optional<c10::intrusive_ptr<c10::ivalue::Object>> packed_module(const c10::StrongTypePtr& type,
                                                                     const c10::IValue& state) {
  const auto cls = type.type_->expect<c10::ClassType>();
  const auto slot = cls->findAttributeSlot("_packed_params");
  if (!slot || !is_convolution(*cls->getAttribute(*slot)) || !state.isTuple()) return std::nullopt;
  const auto fields = fields_of(state);
  if (fields.size() != kCount || !fields[kWeight].isTensor()) return std::nullopt;
  auto object = c10::ivalue::Object::create(type, cls->numAttributes());
  for (size_t i = 0; i < kAttributes.size(); ++i) object->setAttr(kAttributes[i], fields[i]);
  object->setAttr("scale", fields[kScale]);
  object->setAttr("zero_point", fields[kZeroPoint]);
  object->setAttr("training", fields[kTraining]);
  object->setSlot(*slot,
                  object_of(cls->getAttribute(*slot)->expect<c10::ClassType>(),
                            {fields[kWeight], fields[kBias], ints(fields[kStride]),
                             ints(fields[kPadding]), ints(fields[kDilation]),
                             ints(fields[kOutputPadding]), fields[kGroups], fields[kTransposed]}));
  return object;
}

std::optional<Packed> packed(const c10::IValue& value) {
  if (!value.isObject()) return std::nullopt;
  const auto& object = value.toObjectRef();
  if (packed_class(*object.type()).empty() || object.slots().size() != 1) return std::nullopt;
  const auto kept = object.getSlot(0);
  if (!kept.isTuple()) return std::nullopt;
  const auto fields = fields_of(kept);
  Packed out;
  out.weight = fields[0].toTensor();
  if (fields[1].isTensor()) out.bias = fields[1].toTensor();
  if (fields.size() < 8) return out;
  out.stride = fields[2].toIntVector();
  out.padding = fields[3].toIntVector();
  out.dilation = fields[4].toIntVector();
  out.output_padding = fields[5].toIntVector();
  out.groups = fields[6].toInt();
  out.transposed = fields[7].toBool();
  return out;
}

void register_quantized_factories() {
  static const auto* const registered = [] {
    auto* library = new torch::Library(torch::Library::IMPL, "aten",
                                       c10::DispatchKey::QuantizedMeta, __FILE__, __LINE__);
    for (const auto& [name, overload] : kFactories) {
      const auto op =
          c10::Dispatcher::singleton().findSchema({std::string("aten::") + name, overload});
      if (!op || op->hasKernelForDispatchKey(c10::DispatchKey::QuantizedMeta)) continue;
      library->impl(*overload ? (std::string(name) + "." + overload).c_str() : name,
                    torch::CppFunction::makeFromBoxedFunction<&empty_quantized>());
    }
    return library;
  }();
  (void)registered;
}

namespace {

at::Tensor float_shape(const at::Tensor& t) {
  return at::empty(t.sizes(), at::dtype(at::kFloat).device(at::kMeta));
}

/// The shape by LibTorch's rules for the floating-point layer; the bias does not change it.
at::Tensor applied(const at::Tensor& x, const Packed& p) {
  if (p.stride.empty()) return at::linear(float_shape(x), float_shape(p.weight));
  return at::convolution(float_shape(x), float_shape(p.weight), std::nullopt, p.stride, p.padding,
                         p.dilation, p.transposed, p.output_padding, p.groups);
}

bool takes_packed(std::string_view op) {
  return op.starts_with("quantized::linear") || op.starts_with("quantized::conv");
}

at::Tensor floats_for(const at::Tensor& t) {
  return at::empty_strided(t.sizes(), t.strides(), at::dtype(at::kFloat).device(at::kMeta));
}

}  // namespace

QuantizedArguments::QuantizedArguments(torch::jit::Stack& args) {
  for (auto& arg : args) {
    arg = map_tensors(arg, [this](const at::Tensor& t) {
      if (!at::isQIntType(t.scalar_type())) return t;
      return replaced_.emplace_back(t, floats_for(t)).second;
    });
  }
}

void QuantizedArguments::restore(const OperatorInfo& info, torch::jit::Stack& results) const {
  if (replaced_.empty() || info.name == "aten::dequantize") return;
  const auto type = replaced_.front().first.scalar_type();
  for (auto& result : results) {
    result = map_tensors(result, [&](const at::Tensor& t) {
      for (const auto& [quantized, floats] : replaced_) {
        if (t.is_same(floats)) return quantized;  // in-place operators
      }
      if (t.scalar_type() != at::kFloat) return t;
      return at::Tensor(at::detail::empty_strided_meta(t.sizes(), t.strides(), type));
    });
  }
}

bool execute_packed(const OperatorInfo& info, torch::jit::Stack& args) {
  if (args.size() < 2 || !args[0].isTensor() || !takes_packed(info.name)) return false;
  const auto weights = packed(args[1]);
  if (!weights) return false;
  const auto x = args[0].toTensor();
  // Dynamic operators take and return floats; the others return the type that they take.
  const auto result = applied(x, *weights);
  args = {at::empty(result.sizes(), at::dtype(x.scalar_type()).device(at::kMeta))};
  return true;
}

}  // namespace tmeter::torch_backend
