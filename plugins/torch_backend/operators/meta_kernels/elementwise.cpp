// Elementwise operators: activations, comparisons, arithmetic, dropout, random values.
#include <ATen/ExpandUtils.h>
#include <ATen/native/TypeProperties.h>

#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

void like_self(KernelCall& call) { call.give(at::empty_like(call.tensor("self"))); }

void float_like_self(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(same(x, float_type(x)));
}

void bool_like_self(KernelCall& call) { call.give(same(call.tensor("self"), at::kBool)); }

void angle(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(same(x, at::toRealValueType(float_type(x))));
}

void log_sigmoid(KernelCall& call) {
  like_self(call);
  call.give(like(call.tensor("self"), {0}));  // the buffer is used on the CPU only, for training
}

// dropout(input, p, train) → (output, mask)
void native_dropout(KernelCall& call) {
  const auto x = call.tensor("input");
  call.give(at::empty_like(x));
  call.give(same(x, at::kBool));
}

at::Tensor broadcast(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype) {
  const auto dims = at::infer_size(a.sizes(), b.sizes());
  return at::empty(dims, a.options().device(at::kMeta).dtype(dtype));
}

void promoted(KernelCall& call) {
  const auto a = call.tensor("self"), b = call.tensor("other");
  call.give(broadcast(a, b, at::result_type(a, b)));
}

void compared(KernelCall& call) {
  call.give(broadcast(call.tensor("self"), call.tensor("other"), at::kBool));
}

void scalar_first(KernelCall& call) {
  const auto b = call.tensor("other");
  call.give(same(b, at::result_type(call.value("self").toScalar(), b)));
}

void where(KernelCall& call) {
  const auto condition = call.tensor("condition"), a = call.tensor("self"),
             b = call.tensor("other");
  const auto dims = at::infer_size(condition.sizes(), at::infer_size(a.sizes(), b.sizes()));
  call.give(at::empty(dims, a.options().device(at::kMeta).dtype(at::result_type(a, b))));
}

void complex_of(const char* real, const char* imaginary, KernelCall& call) {
  const auto a = call.tensor(real), b = call.tensor(imaginary);
  call.give(broadcast(a, b, at::toComplexType(a.scalar_type())));
}
void complex(KernelCall& call) { complex_of("real", "imag", call); }
void polar(KernelCall& call) { complex_of("abs", "angle", call); }

// Losses: elementwise for the reduction "none" (0), else a scalar.
void loss(KernelCall& call) {
  const auto x = call.tensor("self"), target = call.tensor("target");
  const auto dtype = at::result_type(x, target);
  call.give(call.integer("reduction") == 0 ? broadcast(x, target, dtype) : like(x, {}, dtype));
}

void frexp(KernelCall& call) {
  like_self(call);
  call.give(same(call.tensor("self"), at::kInt));
}

// fake_quantize(self, …) → (output, mask)
void fake_quantize(KernelCall& call) {
  like_self(call);
  call.give(same(call.tensor("self"), at::kBool));
}

// Quantized tensors have shapes and types here, but no scales.
void quantize(KernelCall& call) {
  call.give(same(call.tensor(call.has("self") ? "self" : "input"),
                 call.dtype("dtype").value_or(at::kQUInt8)));
}
void dequantize(KernelCall& call) { call.give(same(call.tensor("self"), at::kFloat)); }
void quantized_pair(KernelCall& call) {
  const auto a = call.tensor("qa"), b = call.tensor("qb");
  call.give(broadcast(a, b, a.scalar_type()));
}
void quantized_cat(KernelCall& call) {
  call.give(at::cat(call.value("qx").toTensorVector(), call.integer("dim")));
}
void quantized_alone(KernelCall& call) {
  for (const char* name : {"qx", "qa", "input", "self"}) {
    if (call.has(name)) return call.give(same(call.tensor(name), call.tensor(name).scalar_type()));
  }
}

constexpr KernelEntry kElementwiseTable[] = {
    {"aten::relu", like_self},
    {"aten::hardswish", like_self},
    {"aten::hardtanh", like_self},
    {"aten::_prelu_kernel", like_self},
    {"aten::rrelu_with_noise", like_self},
    {"aten::channel_shuffle", like_self},
    {"aten::roll", like_self},
    {"aten::flip", like_self},
    {"aten::nan_to_num", like_self},
    {"aten::conj_physical", like_self},
    {"aten::bernoulli", like_self},
    {"aten::poisson", like_self},
    {"aten::_standard_gamma", like_self},
    {"aten::logit", float_like_self},
    {"aten::mvlgamma", float_like_self},
    {"aten::isnan", bool_like_self},
    {"aten::logical_not", bool_like_self},
    {"aten::logical_and", compared},
    {"aten::logical_or", compared},
    {"aten::logical_xor", compared},
    {"aten::angle", angle},
    {"aten::abs", angle},
    {"aten::log_sigmoid_forward", log_sigmoid},
    {"aten::native_dropout", native_dropout},
    {"aten::floor_divide", promoted},
    {"aten::rsub.Tensor", promoted},
    {"aten::_add_relu.Tensor", promoted},
    {"aten::__lshift__.Tensor", promoted},
    {"aten::__rshift__.Tensor", promoted},
    {"aten::__lshift__.Scalar", like_self},
    {"aten::__rshift__.Scalar", like_self},
    {"aten::remainder.Scalar_Tensor", scalar_first},
    {"aten::where.self", where},
    {"aten::complex", complex},
    {"aten::polar", polar},
    {"aten::huber_loss", loss},
    {"aten::binary_cross_entropy", loss},
    {"aten::frexp.Tensor", frexp},
    {"aten::fake_quantize_per_tensor_affine_cachemask", fake_quantize},
    {"aten::fake_quantize_per_channel_affine_cachemask", fake_quantize},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", fake_quantize},
    {"aten::quantize_per_tensor", quantize},
    {"aten::quantize_per_tensor_dynamic", quantize},
    {"aten::quantize_per_channel", quantize},
    {"aten::dequantize.self", dequantize},
    {"quantized::add", quantized_pair},
    {"quantized::add_relu", quantized_pair},
    {"quantized::mul", quantized_pair},
    {"quantized::mul_relu", quantized_pair},
    {"quantized::cat", quantized_cat},
    {"quantized::cat_relu", quantized_cat},
    {"quantized::relu6", quantized_alone},
    {"quantized::hardswish", quantized_alone},
    {"quantized::sigmoid", quantized_alone},
    {"quantized::leaky_relu", quantized_alone},
    {"quantized::elu", quantized_alone},
    {"quantized::clamp", quantized_alone},
    {"quantized::batch_norm2d", quantized_alone},
    {"quantized::layer_norm", quantized_alone},
    {"quantized::dropout", quantized_alone},
    {"quantized::add_scalar", quantized_alone},
    {"quantized::mul_scalar", quantized_alone},
};

}  // namespace

std::span<const KernelEntry> elementwise_kernels() { return kElementwiseTable; }

}  // namespace tmeter::torch_backend
