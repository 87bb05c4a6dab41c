// Quantized and vendor-fused operators. Their weights are often packed into opaque objects: a
// matrix product needs only its input and result, a convolution needs the kernel, which is looked
// for in the prepack operator that made the object. Not found → unknown.
// The MACs are those of the floating-point operator; re-quantization is not counted.
#include "shapes.hpp"

namespace flops {
namespace {

// In a matrix product every output element sums over the last dim of the input.
Count linear_macs(const Node& n) { return output(n).numel() * last_dim(data(n)); }

/// The weight itself, the weight that a prepack operator packed, or a tensor in a list of fields.
Shape conv_weight(const Node& n) {
  for (const auto name : {"W", "qw", "weight", "packed_weight", "W_prepack"}) {
    const auto v = n.arg(name);
    if (v.is_tensor()) return v.shape();
    if (const auto made_by = v.producer())
      if (const auto w = made_by.arg("weight"); w.is_tensor()) return w.shape();
    for (size_t i = 0; i < v.size(); ++i)
      if (v[i].is_tensor() && v[i].shape().rank() >= 3) return v[i].shape();
  }
  throw Unsupported(std::string(n.op()) + ": the kernel size is hidden in packed parameters");
}

Count conv_macs(const Node& n) {
  const auto w = conv_weight(n);
  return output(n).numel() * w.product(1, w.rank());
}

Count conv_transpose_macs(const Node& n) {
  const auto w = conv_weight(n);
  return data(n).numel() * w.product(1, w.rank());
}

// A hidden bias is assumed to exist, because torch.ao's modules always have one.
Count packed_bias(const Node& n) { return output(n).numel(); }
Count packed_bias_and_one(const Node& n) { return output(n).numel() * 2; }
Count packed_bias_and_two(const Node& n) { return output(n).numel() * 3; }

}  // namespace

void register_quantized(tmeter::Registrar& r) {
  rules(r,
        {"quantized::linear", "quantized::linear_dynamic", "quantized::linear_dynamic_fp16",
         "quantized::linear_with_input_q_dq_qweight_dq_output_fp32", "_quantized::linear",
         "_quantized::linear_dynamic", "_quantized::wrapped_quantized_linear",
         "_quantized::_wrapped_quantized_linear_prepacked",
         "_quantized::wrapped_fbgemm_linear_fp16_weight", "aten::fbgemm_linear_fp16_weight",
         "aten::fbgemm_linear_fp16_weight_fp32_activation", "aten::fbgemm_linear_int8_weight",
         "aten::fbgemm_linear_int8_weight_fp32_activation"},
        linear_macs, packed_bias);
  rules(r,
        {"quantized::linear_relu", "quantized::linear_relu_dynamic",
         "quantized::linear_relu_dynamic_fp16", "quantized::linear_leaky_relu",
         "quantized::linear_tanh", "quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32"},
        linear_macs, packed_bias_and_one);
  // From here the weight is a tensor, and the bias an argument.
  rules(
      r,
      {"quantized::linear_dynamic_fp16_unpacked_weight", "onednn::linear_dynamic_fp16",
       "onednn::linear_relu_dynamic_fp16", "onednn::qlinear_pointwise", "mkldnn::_linear_pointwise",
       "mkl::_mkl_linear", "quantized::int4mm_packed_weight_cpu", "quantized::matmul"},
      linear_macs, bias_adds);
  rules(r,
        {"quantized::conv1d", "quantized::conv2d", "quantized::conv3d", "quantized::conv1d_dynamic",
         "quantized::conv2d_dynamic", "quantized::conv3d_dynamic", "_quantized::conv2d",
         "_quantized::conv3d", "mkldnn_prepacked::conv2d_run"},
        conv_macs, packed_bias);
  rules(r,
        {"quantized::conv1d_relu", "quantized::conv2d_relu", "quantized::conv3d_relu",
         "quantized::conv2d_add", "_quantized::conv2d_relu", "_quantized::conv3d_relu"},
        conv_macs, packed_bias_and_one);
  rules(r, {"quantized::conv2d_add_relu"}, conv_macs, packed_bias_and_two);
  rules(r,
        {"quantized::conv_transpose1d", "quantized::conv_transpose2d",
         "quantized::conv_transpose3d", "quantized::conv_transpose1d_dynamic",
         "quantized::conv_transpose2d_dynamic", "quantized::conv_transpose3d_dynamic",
         "_quantized::conv_transpose1d", "_quantized::conv_transpose2d"},
        conv_transpose_macs, packed_bias);
  rules(r,
        {"onednn::qconv_pointwise", "onednn::qconv1d_pointwise", "onednn::qconv2d_pointwise",
         "onednn::qconv3d_pointwise", "mkldnn::_convolution_pointwise"},
        conv_macs, bias_adds);
  rules(r, {"mkldnn::_convolution_transpose_pointwise"}, conv_transpose_macs, bias_adds);
}

}  // namespace flops
