// Convolution, pooling, padding, interpolation grids and image columns.
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

// out = floor((in + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1; transposed:
// out = (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1.
// Output sizes as documented for torch.nn.Conv2d and ConvTranspose2d.
void convolution(KernelCall& call) {
  const auto x = call.tensor("input"), w = call.tensor("weight");
  TORCH_CHECK(x.scalar_type() == w.scalar_type(), "the input is of type ", x.scalar_type(),
              ", the weight of type ", w.scalar_type());
  const auto spatial = static_cast<size_t>(w.dim() - 2);
  const auto stride = call.ints("stride", spatial), padding = call.ints("padding", spatial);
  const auto dilation = call.ints("dilation", spatial);
  const auto extra = call.ints("output_padding", spatial);
  const bool transposed = call.boolean("transposed");
  Dims out{x.size(0), transposed ? w.size(1) * call.integer("groups") : w.size(0)};
  for (size_t i = 0; i < spatial; ++i) {
    TORCH_CHECK(stride[i] > 0, "the stride must be positive, got ", stride[i]);
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t reach = dilation[i] * (w.size(axis) - 1);
    out.push_back(transposed
                      ? (x.size(axis) - 1) * stride[i] - 2 * padding[i] + reach + extra[i] + 1
                      : (x.size(axis) + 2 * padding[i] - reach - 1) / stride[i] + 1);
    TORCH_CHECK(out.back() > 0, "the kernel is larger than the padded input ", x.sizes());
  }
  call.give(at::empty(out, x.options(), x.suggest_memory_format()));
}

Dims with_spatial(const at::Tensor& x, const Dims& spatial) {
  auto out = x.sizes().vec();
  TORCH_CHECK(out.size() > spatial.size(), "expected ", spatial.size() + 1, " or more dims, got ",
              x.sizes());
  std::copy(spatial.begin(), spatial.end(), out.end() - static_cast<ptrdiff_t>(spatial.size()));
  return out;
}

template <size_t kSpatial>
void adaptive_avg_pool(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(at::empty(
      with_spatial(x, call.ints("output_size", kSpatial)), x.options(),
      x.dim() == kSpatial + 2 ? x.suggest_memory_format() : at::MemoryFormat::Contiguous));
}

// Output sizes as documented for torch.nn.MaxPool3d; with ceil_mode the last window must start
// inside the input.
int64_t pooled(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
               bool ceil) {
  TORCH_CHECK(kernel > 0 && stride > 0 && dilation > 0 && padding >= 0,
              "kernel, stride and dilation must be positive and the padding not negative");
  const int64_t span = in + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t out = (span + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + padding) --out;
  return out;
}

void max_pool3d(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto kernel = call.ints("kernel_size", 3), padding = call.ints("padding", 3);
  const auto stride = call.ints("stride").empty() ? kernel : call.ints("stride", 3);
  const auto dilation = call.ints("dilation", 3);
  Dims spatial;
  for (size_t i = 0; i < 3; ++i) {
    spatial.push_back(pooled(x.size(x.dim() - 3 + static_cast<int64_t>(i)), kernel[i], stride[i],
                             padding[i], dilation[i], call.boolean("ceil_mode")));
  }
  const auto out = with_spatial(x, spatial);
  call.give(like(x, out));
  call.give(like(x, out, at::kLong));
}

template <size_t kSpatial>
void max_unpool(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, with_spatial(x, call.ints("output_size", kSpatial))));
}

void reflection_pad2d(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto p = call.ints("padding", 4);
  call.give(like(x, with_spatial(x, {x.size(-2) + p[2] + p[3], x.size(-1) + p[0] + p[1]})));
}

// input [N, C, …], grid [N, spatial…, n] → [N, C, spatial…]
void grid_sampler(KernelCall& call) {
  const auto x = call.tensor("input"), grid = call.tensor("grid");
  Dims out{x.size(0), x.size(1)};
  for (int64_t i = 1; i + 1 < grid.dim(); ++i) out.push_back(grid.size(i));
  call.give(like(x, out));
}

// [N, C, H, W] → [N, C * kernel, windows], as torch.nn.Unfold documents it.
void im2col(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto kernel = call.ints("kernel_size", 2), dilation = call.ints("dilation", 2);
  const auto padding = call.ints("padding", 2), stride = call.ints("stride", 2);
  int64_t windows = 1;
  for (size_t i = 0; i < 2; ++i) {
    windows *= pooled(x.size(static_cast<int64_t>(i) - 2), kernel[i], stride[i], padding[i],
                      dilation[i], false);
  }
  Dims out{x.size(-3) * kernel[0] * kernel[1], windows};
  if (x.dim() == 4) out.insert(out.begin(), x.size(0));
  call.give(like(x, out));
}

void col2im(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto kernel = call.ints("kernel_size", 2), size = call.ints("output_size", 2);
  TORCH_CHECK(kernel[0] > 0 && kernel[1] > 0, "the kernel must be positive");
  Dims out{x.size(-2) / (kernel[0] * kernel[1]), size[0], size[1]};
  if (x.dim() == 3) out.insert(out.begin(), x.size(0));
  call.give(like(x, out));
}

void roi_pooling(KernelCall& call) {
  const auto x = call.tensor("input"), rois = call.tensor("rois");
  const Dims out{rois.size(0), x.size(1), call.integer("pooled_height"),
                 call.integer("pooled_width")};
  call.give(like(x, out));
}

void roi_pool_with_argmax(KernelCall& call) {
  roi_pooling(call);
  call.give(same(call.result(0), at::kInt));
}

// Position-sensitive: each bin has its own channels.
void ps_roi_pooling(KernelCall& call) {
  const auto x = call.tensor("input"), rois = call.tensor("rois");
  const int64_t height = call.integer("pooled_height"), width = call.integer("pooled_width");
  TORCH_CHECK(height > 0 && width > 0, "the pooled size must be positive");
  const Dims out{rois.size(0), x.size(1) / (height * width), height, width};
  call.give(like(x, out));
  call.give(like(x, out, at::kInt));
}

void box_iou(KernelCall& call) {
  const auto a = call.tensor("boxes1"), b = call.tensor("boxes2");
  call.give(like(a, {a.size(0), b.size(0)}));
}

// offset: [N, 2 * groups * kernel, out_h, out_w]
void deform_conv2d(KernelCall& call) {
  const auto x = call.tensor("input"), offset = call.tensor("offset");
  call.give(
      like(x, Dims{x.size(0), call.tensor("weight").size(0), offset.size(2), offset.size(3)}));
}

constexpr KernelEntry kConvolutionTable[] = {
    {"aten::convolution_overrideable", convolution, /*replaces_stub=*/true},
    {"aten::_adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"aten::_adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"aten::adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"aten::adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"aten::max_pool3d_with_indices", max_pool3d},
    {"aten::max_unpool2d", max_unpool<2>},
    {"aten::max_unpool3d", max_unpool<3>},
    {"aten::reflection_pad2d", reflection_pad2d},
    {"aten::grid_sampler_2d", grid_sampler},
    {"aten::grid_sampler_3d", grid_sampler},
    {"aten::im2col", im2col},
    {"aten::col2im", col2im},
    {"torchvision::roi_align", roi_pooling},
    {"torchvision::roi_pool", roi_pool_with_argmax},
    {"torchvision::ps_roi_align", ps_roi_pooling},
    {"torchvision::ps_roi_pool", ps_roi_pooling},
    {"torchvision::deform_conv2d", deform_conv2d},
    {"torchvision::box_iou_rotated", box_iou},
};

}  // namespace

std::span<const KernelEntry> convolution_kernels() { return kConvolutionTable; }

}  // namespace tmeter::torch_backend
