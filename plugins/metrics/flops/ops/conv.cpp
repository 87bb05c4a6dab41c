// Convolutions. Padding positions count as computed, dilation and stride show only in the sizes.

#include "shapes.hpp"

namespace flops {
namespace {

Shape weight(const Node& n) { return tensor_arg(n, {"weight", "W"}).shape(); }

// out_numel * (C_in/groups) * prod(kernel): the weight is [C_out, C_in/groups, kernel…]. Holds
// also without a batch dim. Equals torch.utils.flop_counter.conv_flop_count / 2.
Count forward(const Node& n) {
  const auto w = weight(n);
  return output(n).numel() * w.product(1, w.rank());
}

// Transposed: prod(kernel) * (C_out/groups) MACs for each *input* element; the weight is
// [C_in, C_out/groups, kernel…]. As torch.utils.flop_counter.conv_flop_count / 2.
Count transposed(const Node& n) {
  const auto w = weight(n);
  return data(n).numel() * w.product(1, w.rank());
}

Count forward_or_transposed(const Node& n) {
  return n.arg("transposed").as_bool() ? transposed(n) : forward(n);
}

// Time-batch-channel layout: input [T, B, C_in], weight [kernel, C_in, C_out].
Count time_batch_channel(const Node& n) { return output(n).numel() * weight(n).product(0, 2); }

Count bias_and_relu(const Node& n) { return bias_adds(n) + output(n).numel(); }
Count bias_add_relu(const Node& n) { return bias_adds(n) + output(n).numel() * 2; }

// torchvision::deform_conv2d samples its inputs bilinearly at learned places. Its products are
// those of an ordinary convolution: out_numel * (C_in/groups) * prod(kernel).
Count deform_conv_macs(const Node& n) {
  const auto w = tensor_arg(n, {"weight"}).shape();
  return output(n).numel() * w.product(1, w.rank());
}

// Sampling: one bilinear interpolation (4 multiplications, 3 additions) per input channel, kernel
// position and output position, times the mask where it is used; then the bias.
// Source: torchvision/csrc/ops/cpu/deform_conv2d_kernel.cpp, bilinear_interpolate.
Count sampling(const Node& n) {
  const auto x = data(n).shape(), w = tensor_arg(n, {"weight"}).shape(), out = output(n).shape();
  const Count samples = out[0] * x[1] * w.product(2, 4) * out.product(2, 4);
  return samples * (n.arg("use_mask").as_bool() ? 8 : 7) + bias_adds(n);
}

}  // namespace

void register_conv(tmeter::Registrar& r) {
  rules(r,
        {"aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::_convolution_mode",
         "aten::mkldnn_convolution", "aten::cudnn_convolution", "aten::miopen_convolution",
         "aten::miopen_depthwise_convolution", "aten::_conv_depthwise2d", "aten::conv_depthwise3d",
         "aten::_slow_conv2d_forward", "aten::thnn_conv2d", "aten::slow_conv3d",
         "aten::slow_conv3d_forward", "aten::slow_conv_dilated2d", "aten::slow_conv_dilated3d",
         "aten::_nnpack_spatial_convolution", "aten::_mps_convolution"},
        forward, bias_adds);
  rules(r, {"aten::convolution", "aten::_convolution", "aten::convolution_overrideable"},
        forward_or_transposed, bias_adds);
  rules(r,
        {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
         "aten::cudnn_convolution_transpose", "aten::miopen_convolution_transpose",
         "aten::slow_conv_transpose2d", "aten::slow_conv_transpose3d",
         "aten::_mps_convolution_transpose"},
        transposed, bias_adds);
  rules(r, {"aten::conv_tbc"}, time_batch_channel, bias_adds);
  rules(r, {"aten::cudnn_convolution_relu", "aten::miopen_convolution_relu"}, forward,
        bias_and_relu);
  rules(r, {"aten::cudnn_convolution_add_relu", "aten::miopen_convolution_add_relu"}, forward,
        bias_add_relu);
  rules(r, {"torchvision::deform_conv2d"}, deform_conv_macs, sampling);
}

}  // namespace flops
