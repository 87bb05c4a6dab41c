#include "derivatives.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tmeter/cpp/op_class.hpp>

namespace training {
namespace {

constexpr Derivative kDerivatives[] = {
#include "derivatives_data.inc"
};

const Derivative* row_of(std::string_view op) {
  const auto* at =
      std::lower_bound(std::begin(kDerivatives), std::end(kDerivatives), op,
                       [](const Derivative& d, std::string_view name) { return d.op < name; });
  return at != std::end(kDerivatives) && at->op == op ? at : nullptr;
}

}  // namespace

const Derivative* find_derivative(std::string_view op, std::string_view overload) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return nullptr;
  const auto name = [&](std::string_view base) {
    return std::string(base) +
           (overload.empty() || overload == "default" ? "" : "." + std::string(overload));
  };
  const auto bare = op.substr(kAten.size());
  if (const auto* row = row_of(name(bare))) return row;
  return tmeter::is_in_place(op) ? row_of(name(tmeter::base_name(op))) : nullptr;
}

namespace {

// Sources: aten/src/ATen/native of torch 2.15, the CompositeImplicitAutograd function of that name.
constexpr Composite kComposites[] = {
    {{"conv1d", "input weight bias", "input< weight<"}},  // Convolution.cpp: at::convolution
    {{"conv2d", "input weight bias", "input< weight<"}},
    {{"conv3d", "input weight bias", "input< weight<"}},
    {{"conv_transpose1d", "input weight bias", "input< weight<"}},
    {{"conv_transpose2d", "input weight bias", "input< weight<"}},
    {{"conv_transpose3d", "input weight bias", "input< weight<"}},
    {{"_convolution", "input weight bias", "input< weight<"}},
    // Normalization.cpp: native_batch_norm
    {{"batch_norm", "input weight bias", "input< weight<"}, Extra::kChannelStatistics},
    {{"_native_batch_norm_legit_no_training", "input weight bias", "input< weight<"},
     Extra::kChannelStatistics},
    {{"instance_norm", "input weight bias", "input<"}, Extra::kInstanceStatistics},
    // layer_norm.cpp: native_layer_norm, _fused_rms_norm
    {{"layer_norm", "input weight bias", "input< weight< bias<"}, Extra::kRowStatistics},
    {{"rms_norm", "input weight", "input< weight<"}, Extra::kRowDeviation},
    {{"group_norm", "input weight bias", "input< weight<"}, Extra::kGroupStatistics},
    // Pooling.cpp: max_pool2d_with_indices
    {{"max_pool1d", "self", "self<"}, Extra::kPoolIndices},
    {{"max_pool2d", "self", "self<"}, Extra::kPoolIndices},
    {{"max_pool3d", "self", "self<"}, Extra::kPoolIndices},
    {{"adaptive_avg_pool1d", "self", "self<"}},
    {{"adaptive_avg_pool2d", "self", "self<"}},
    {{"adaptive_avg_pool3d", "self", "self<"}},
    {{"dropout", "input self", ""}, Extra::kDropoutNoise},  // Dropout.cpp
    {{"softmax", "self", "#0<"}},                           // SoftMax.cpp: _softmax, _log_softmax
    {{"log_softmax", "self", "#0<"}},
    {{"relu6", "self", "self<"}},  // Activation.cpp: hardtanh
    {{"selu", "self", "self<"}},   // elu
    {{"celu", "self", "self<"}},
    {{"prelu", "self weight", "self< weight<"}},
    {{"square", "self", "self<"}},  // pow
    {{"divide", "self other", "self<other other<"}},
    {{"multiply", "self other", "self<other other<self"}},
    {{"true_divide", "self other", "self<other other<"}},
    {{"subtract", "self other", ""}},
    {{"rsub", "self other", ""}},
    {{"where", "self other", "condition<"}},
    {{"max_pool2d_with_indices", "self", "self< #1<"}},
    {{"pixel_shuffle", "self", ""}},
    {{"pixel_unshuffle", "self", ""}},
    {{"channel_shuffle", "self", ""}},
    {{"pad", "self", ""}},
    {{"concat", "tensors", ""}},
    {{"concatenate", "tensors", ""}},
    {{"hstack", "tensors", ""}},
    {{"vstack", "tensors", ""}},
    {{"stack", "tensors", ""}},
    {{"tile", "self", ""}},
    {{"repeat", "self", ""}},
    {{"repeat_interleave", "self", ""}},
    {{"upsample_nearest1d", "input self", ""}},
    {{"upsample_nearest2d", "input self", ""}},
    {{"upsample_nearest3d", "input self", ""}},
    {{"upsample_bilinear2d", "input self", ""}},
    {{"upsample_bicubic2d", "input self", ""}},
    {{"upsample_trilinear3d", "input self", ""}},
    {{"upsample_linear1d", "input self", ""}},
    {{"mean", "self", ""}},
    {{"sum", "self", ""}},
    {{"clip", "self", "self<"}},
    {{"_weight_norm", "v g", "v< g<"}, Extra::kWeightNorms},  // _weight_norm_interface
    {{"grid_sampler", "input grid", "input< grid<"}},         // grid_sampler_2d, grid_sampler_3d
    {{"grouped_mm_fallback", "input weight", "input< weight< offs<"}},  // transformers
};

}  // namespace

const Composite* find_composite(std::string_view base) {
  const auto* at = std::find_if(std::begin(kComposites), std::end(kComposites),
                                [&](const Composite& c) { return c.rule.op == base; });
  return at != std::end(kComposites) ? at : nullptr;
}

}  // namespace training
