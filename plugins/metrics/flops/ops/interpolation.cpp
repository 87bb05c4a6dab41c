// Resampling: per output element the weighted sum of `taps` values, nested per dim as ATen's CPU
// kernels do it (UpSampleKernel.cpp). Positions and weights, shared by all channels, are not
// counted. Nearest neighbour copies: zero by rule.
#include <algorithm>
#include <cmath>

#include "shapes.hpp"

namespace flops {
namespace {

// Inner sums first: c(1) = 2t − 1, c(d) = t·c(d−1) + 2t − 1. Linear 3, bilinear 9, trilinear 21,
// bicubic 35.
constexpr int64_t nested_cost(int64_t taps, int64_t dims) {
  int64_t cost = 0;
  for (int64_t d = 0; d < dims; ++d) cost = taps * cost + 2 * taps - 1;
  return cost;
}

template <int64_t taps, int64_t dims>
Count upsample(const Node& n) {
  return output(n).numel() * nested_cost(taps, dims);
}

// Antialiased: columns, then rows, each with a filter that widens as the image shrinks.
// ceil(support) * 2 + 1 taps with support = filter / 2 * max(in / out, 1).
Count filter_cost(double filter, int64_t in, int64_t out) {
  const double scale =
      std::max(static_cast<double>(in) / static_cast<double>(std::max<int64_t>(out, 1)), 1.0);
  const Count taps = whole(std::ceil(filter / 2 * scale)) * 2 + 1;
  return taps * 2 - 1;
}

template <int64_t filter>
Count antialiased(const Node& n) {
  const auto in = data(n).shape(), out = output(n).shape();
  const Count planes = out.product(0, out.rank() - 2);
  return planes * out[-1] *
         (filter_cost(filter, in[-1], out[-1]) * in[-2] +
          filter_cost(filter, in[-2], out[-2]) * out[-2]);
}

// Per output element: bilinear 4 (trilinear 8) products and the additions between them; bicubic
// as above. interpolation_mode 0 is linear, 1 nearest, 2 bicubic.
Count grid_sample(const Node& n) {
  const auto out = output(n);
  const int64_t corners = out.shape().rank() == 5 ? 8 : 4;
  switch (n.arg("interpolation_mode").as_int()) {
    case 0:
      return out.numel() * (2 * corners - 1);
    case 1:
      return 0;
    case 2:
      return out.numel() * nested_cost(4, 2);
    default:
      throw Unsupported("grid_sampler of unknown mode");
  }
}
Count grid_sample_bilinear(const Node& n) { return output(n).numel() * 7; }

// Per output: sampling_ratio² bilinear samples of 7 and their mean. A ratio of 0 means "as many as
// the box is large", which depends on data.
Count roi_align(const Node& n) {
  const auto ratio = n.arg("sampling_ratio").as_int();
  if (ratio <= 0) throw Unsupported("roi_align with a sampling ratio that depends on the boxes");
  return output(n).numel() * ratio * ratio * 8;
}

}  // namespace

void register_interpolation(tmeter::Registrar& r) {
  for (const auto op : {"aten::upsample_nearest1d", "aten::upsample_nearest2d",
                        "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
                        "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d"})
    r.op(op).zero(kOther);
  other_rules(r, {"aten::upsample_linear1d"}, upsample<2, 1>);
  other_rules(r, {"aten::upsample_bilinear2d"}, upsample<2, 2>);
  other_rules(r, {"aten::upsample_trilinear3d"}, upsample<2, 3>);
  other_rules(r, {"aten::upsample_bicubic2d"}, upsample<4, 2>);
  other_rules(r, {"aten::_upsample_bilinear2d_aa"}, antialiased<2>);
  other_rules(r, {"aten::_upsample_bicubic2d_aa"}, antialiased<4>);
  other_rules(r, {"aten::_upsample_lanczos2d_aa"}, antialiased<6>);
  other_rules(r, {"aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d"},
              grid_sample);
  other_rules(r, {"aten::_grid_sampler_2d_cpu_fallback"}, grid_sample);
  other_rules(r, {"aten::cudnn_grid_sampler"}, grid_sample_bilinear);
  other_rules(r, {"torchvision::roi_align", "torchvision::qroi_align", "torchvision::ps_roi_align"},
              roi_align);
}

}  // namespace flops
