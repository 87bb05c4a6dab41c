#include "operators/packed_operators.hpp"

#include <ATen/EmptyTensor.h>

#include "operators/packed.hpp"
#include "operators/evaluator.hpp"

namespace tmeter::torch_backend {
namespace {

at::Tensor float_shape(const at::Tensor& t) {
  return at::empty(t.sizes(), at::dtype(at::kFloat).device(at::kMeta));
}

/// LibTorch's rules for the floating-point layer; the bias does not change a shape.
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
        if (t.is_same(floats)) return quantized;  // in place
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
  // The dynamic ones take and give floats; the others give what they take.
  const auto result = applied(x, *weights);
  args = {at::empty(result.sizes(), at::dtype(x.scalar_type()).device(at::kMeta))};
  return true;
}

}  // namespace tmeter::torch_backend
