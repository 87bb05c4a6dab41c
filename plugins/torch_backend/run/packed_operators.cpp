#include "run/packed_operators.hpp"

#include "load/packed.hpp"

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

}  // namespace

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
