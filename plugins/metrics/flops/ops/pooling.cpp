// Poolings: one comparison or addition per element of a window. An average's division replaces the
// addition that the first element does not need.
#include "facts.hpp"

namespace flops {
namespace {

/// The product of `list` or, if one number covers all dims, that number to the power of `dims`.
Count window(const Value& list, int64_t dims) {
  if (list.is_none()) throw Unsupported("a pooling without a kernel size");
  Count n = 1;
  for (int64_t i = 0; i < dims; ++i) {
    const auto at = list.size() == 1 ? 0 : static_cast<size_t>(i);
    n *= list.is_list() ? list[at].as_int() : list.as_int();
  }
  return n;
}

}  // namespace

Count pooling_window(const Node& n, int64_t dims) { return window(n.arg("kernel_size"), dims); }

namespace {

template <int64_t dims>
Count fixed(const Node& n) {
  return output(n).numel() * pooling_window(n, dims);
}

// Window i of `out` over `in` elements is [floor(i*in/out), ceil((i+1)*in/out)): they overlap when
// out does not divide in (aten/src/ATen/native/AdaptivePooling.h).
Count adaptive_reads(int64_t in, int64_t out) {
  if (out > 0 && in % out == 0) return in;
  if (out > 1'000'000) throw Unsupported("an adaptive pooling of absurd size");
  Count sum = 0;
  for (int64_t i = 0; i < out; ++i) {
    const auto first = Count(i) * in / out;
    const auto end = (Count(i + 1) * in + out - 1) / out;
    sum += end - first;
  }
  return sum;
}

template <int64_t dims>
Count adaptive(const Node& n) {
  const auto in = data(n).shape(), out = output(n).shape();
  Count total = out.product(0, out.rank() - dims);
  for (int64_t d = 1; d <= dims; ++d) total *= adaptive_reads(in[-d], out[-d]);
  return total;
}

}  // namespace

void register_pooling(tmeter::Registrar& r) {
  other_rules(r,
              {"aten::max_pool1d", "aten::max_pool1d_with_indices", "aten::avg_pool1d",
               "aten::quantized_max_pool1d", "quantized::max_pool1d"},
              fixed<1>);
  other_rules(r,
              {"aten::max_pool2d", "aten::max_pool2d_with_indices", "aten::avg_pool2d",
               "aten::mkldnn_max_pool2d", "aten::quantized_max_pool2d", "quantized::max_pool2d",
               "aten::fractional_max_pool2d"},
              fixed<2>);
  other_rules(
      r,
      {"aten::max_pool3d", "aten::max_pool3d_with_indices", "aten::avg_pool3d",
       "aten::mkldnn_max_pool3d", "aten::quantized_max_pool3d", "aten::fractional_max_pool3d"},
      fixed<3>);
  other_rules(r, {"aten::adaptive_avg_pool1d", "aten::adaptive_max_pool1d"}, adaptive<1>);
  other_rules(r,
              {"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
               "aten::adaptive_max_pool2d", "aten::mkldnn_adaptive_avg_pool2d"},
              adaptive<2>);
  other_rules(
      r, {"aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d", "aten::adaptive_max_pool3d"},
      adaptive<3>);
}

}  // namespace flops
