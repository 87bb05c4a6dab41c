// torchvision::deform_conv2d: a convolution whose inputs are sampled bilinearly at learned places.
#include "shapes.hpp"

namespace flops {
namespace {

// As an ordinary convolution: out_numel * (C_in/groups) * prod(kernel).
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

void register_deform_conv(tmeter::Registrar& r) {
  rules(r, {"torchvision::deform_conv2d"}, deform_conv_macs, sampling);
}

}  // namespace flops
