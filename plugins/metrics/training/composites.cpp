#include "composites.hpp"

#include <algorithm>
#include <iterator>

namespace training {
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
};

}  // namespace

const Composite* find_composite(std::string_view base) {
  const auto* at = std::find_if(std::begin(kComposites), std::end(kComposites),
                                [&](const Composite& c) { return c.rule.op == base; });
  return at != std::end(kComposites) ? at : nullptr;
}

}  // namespace training
