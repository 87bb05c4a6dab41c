// Normalizations, counted as ATen's CPU kernels compute them. Statistics cost 4 per element: one
// addition for the mean; subtract, square and add for the variance. Work done once per channel or
// row (rsqrt, folding scale and shift) is not counted.
#include "shapes.hpp"

namespace flops {
namespace {

constexpr int64_t kStatistics = 4;

/// Multiplication by the weight and addition of the bias, if present.
Count affine(const Node& n) {
  return int64_t{has_tensor(n, {"weight", "gamma"})} + int64_t{has_tensor(n, {"bias", "beta"})};
}

// x * alpha + beta, both folded per channel (batch_norm_cpu_transform_input in
// aten/src/ATen/native/Normalization.cpp); with batch statistics if the arguments request them.
Count batch_norm(const Node& n) {
  const bool statistics = n.arg("training").as_bool() || n.arg("train").as_bool();
  return data(n).numel() * ((statistics ? kStatistics : 0) + 2);
}
Count batch_norm_inference(const Node& n) { return data(n).numel() * 2; }
Count batch_norm_relu(const Node& n) { return data(n).numel() * 3; }

// (x - mean) * rstd, then weight and bias (layer_norm_kernel.cpp).
Count layer_norm(const Node& n) { return data(n).numel() * (Count(kStatistics + 2) + affine(n)); }

// x * (rstd * weight) + (bias - …), folded per channel (group_norm_kernel.cpp).
Count group_norm(const Node& n) { return data(n).numel() * (kStatistics + 2); }

// Batch norm over [1, N*C, …] with the statistics of each instance, or the running ones.
Count instance_norm(const Node& n) {
  const bool statistics = n.arg("use_input_stats").as_bool(true);
  return data(n).numel() * ((statistics ? kStatistics : 0) + 2);
}

// Square and add, multiply by rsqrt(mean square), then the weight.
Count rms_norm(const Node& n) { return data(n).numel() * (Count(3) + affine(n)); }

// Square and add, then scale.
Count renorm(const Node& n) { return data(n).numel() * 3; }

}  // namespace

void register_normalization(tmeter::Registrar& r) {
  other_rules(r,
              {"aten::batch_norm", "aten::native_batch_norm", "aten::_native_batch_norm_legit",
               "aten::_native_batch_norm_legit_functional", "aten::_batch_norm_impl_index",
               "aten::cudnn_batch_norm", "aten::miopen_batch_norm"},
              batch_norm);
  other_rules(r,
              {"aten::_native_batch_norm_legit_no_training", "aten::_batch_norm_no_update",
               "aten::batch_norm_elemt", "aten::quantized_batch_norm", "quantized::batch_norm",
               "quantized::batch_norm1d", "quantized::batch_norm2d", "quantized::batch_norm3d",
               "onednn::qbatch_norm2d"},
              batch_norm_inference);
  other_rules(r,
              {"quantized::batch_norm_relu", "quantized::batch_norm1d_relu",
               "quantized::batch_norm2d_relu", "quantized::batch_norm3d_relu"},
              batch_norm_relu);
  other_rules(r, {"aten::_batch_norm_with_update", "aten::_batch_norm_with_update_functional"},
              [](const Node& n) { return data(n).numel() * (kStatistics + 2); });
  other_rules(r,
              {"aten::layer_norm", "aten::native_layer_norm", "quantized::layer_norm",
               "static_runtime::layer_norm"},
              layer_norm);
  other_rules(r, {"aten::group_norm", "aten::native_group_norm", "quantized::group_norm"},
              group_norm);
  other_rules(r, {"aten::instance_norm", "quantized::instance_norm"}, instance_norm);
  other_rules(r, {"aten::rms_norm", "aten::_fused_rms_norm"}, rms_norm);
  other_rules(r, {"aten::renorm", "aten::renorm_"}, renorm);
}

}  // namespace flops
