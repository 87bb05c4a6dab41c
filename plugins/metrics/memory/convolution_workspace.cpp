// Convolutions on the CPU: by oneDNN, in tensors of blocked channels, or by a matrix of columns.
#include <algorithm>

#include "workspaces.hpp"

namespace memory {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

/// One number for each spatial dim, or one for all; `otherwise` is the default.
class Numbers {
 public:
  Numbers(const Value& value, int64_t otherwise) : value_(value), otherwise_(otherwise) {}
  int64_t operator[](size_t i) const {
    if (!value_.is_list()) return value_.is_none() ? otherwise_ : value_.as_int(otherwise_);
    if (value_.size() == 0) return otherwise_;
    return value_[std::min(i, value_.size() - 1)].as_int(otherwise_);
  }

 private:
  Value value_;
  int64_t otherwise_;
};

struct Convolution {
  Value x, w, y;
  Numbers stride, padding, dilation;
  int64_t groups;
  size_t dims;  // spatial dims

  explicit Convolution(const Node& node)
      : x(node.arg("input")),
        w(node.arg("weight")),
        y(node.result(0)),
        stride(node.arg("stride"), 1),
        padding(node.arg("padding"), 0),
        dilation(node.arg("dilation"), 1),
        groups(std::max<int64_t>(node.arg("groups").as_int(1), 1)),
        dims(static_cast<size_t>(std::max<int64_t>(w.shape().rank() - 2, 0))) {}

  bool is_known() const {
    const auto rank = static_cast<int64_t>(dims) + 2;
    const auto fits = [&](const Value& v) {
      return is_plain_float(v) && (v.shape().rank() == rank || v.shape().rank() == rank - 1);
    };
    return dims >= 1 && dims <= 3 && is_plain_float(w) && fits(x) && fits(y);
  }

  int64_t images() const {
    return x.shape().rank() == static_cast<int64_t>(dims) + 2 ? x.shape().front() : 1;
  }
  int64_t channels() const { return x.shape()[-static_cast<int64_t>(dims) - 1]; }
  int64_t filters() const { return w.shape().front(); }
  Count places(const Value& v) const {
    return v.shape().product(v.shape().rank() - static_cast<int64_t>(dims), v.shape().rank());
  }
  Count kernel() const { return w.shape().product(2, w.shape().rank()); }

  template <class F>
  bool any(const F& f) const {
    for (size_t i = 0; i < dims; ++i)
      if (f(i)) return true;
    return false;
  }
  bool is_strided() const {
    return any([&](size_t i) { return stride[i] != 1; });
  }
  bool is_dilated() const {
    return any([&](size_t i) { return dilation[i] != 1; });
  }
  bool is_padded() const {
    return any([&](size_t i) { return padding[i] != 0; });
  }
  bool is_point() const { return kernel() == Count(1); }
};

/// ConvParams::use_mkldnn, aten/src/ATen/native/Convolution.cpp. One spatial dim is taken for two.
bool is_of_onednn(const Convolution& c, int64_t threads) {
  const auto last = [&](int64_t i) {
    return static_cast<int64_t>(c.dims) >= i ? c.w.shape()[-i] : 1;
  };
  const auto n = c.images();
  const bool pays =
      c.is_strided() || c.is_dilated() || n >= 16 || last(1) != 1 || last(2) != 1 || threads > 1;
  const auto rank = c.x.shape().rank();
  const auto first = std::min<int64_t>(rank, c.dims == 3 ? rank - 1 : rank);
  return pays && (c.groups > 1 || (last(1) > 3 && last(2) > 3) || n > 1 ||
                  c.x.shape().product(0, first) > Count(20480));
}

/// slow_conv2d, slow_conv3d, slow_conv_dilated: each place's part of the image as a column.
Count columns(const Convolution& c) {
  if (c.is_point() && !c.is_strided() && !c.is_padded()) return 0;
  return Count(c.channels()) * c.kernel() * c.places(c.y) * Count(kFloat);
}

/// Channels last: only the weights change their layout, first to channels last, then to that of the
/// kernel.
Count channels_last(const Convolution& c, const Kernels& k) {
  const bool as_it_is = c.w.shape()[1] == 1 || c.is_point();
  const Count packed =
      rounded_up(c.filters(), k.block) * Count(c.w.shape()[1]) * c.kernel() * Count(kFloat);
  return (as_it_is ? Count(0) : c.w.bytes()) + packed;
}

/// 1x1 with a stride: oneDNN gathers the places it needs, for each thread those of an image
/// (rtus, src/cpu/x64/jit_uni_1x1_conv_utils.hpp), where the stride divides the image.
Count gathered(const Convolution& c, const Kernels& k) {
  if (!c.is_point() || !c.is_strided() || c.is_padded() || c.groups > 1) return 0;
  const bool divides = !c.any([&](size_t i) {
    const auto at = -static_cast<int64_t>(c.dims) + static_cast<int64_t>(i);
    return Count(c.y.shape()[at]) * Count(c.stride[i]) != Count(c.x.shape()[at]);
  });
  if (!divides) return 0;
  return Count(k.threads) * rounded_up(c.channels(), k.block) * c.places(c.y) * Count(kFloat);
}

/// mkldnn_convolution (aten/src/ATen/native/mkldnn/Conv.cpp): image, weights and result are in
/// blocks of channels. The result is copied when image and weights have been freed.
Count blocked(const Convolution& c, const Kernels& k) {
  const Count channels = rounded_up(c.channels(), k.block),
              filters = rounded_up(c.filters(), k.block);
  // Few channels are not reordered.
  const bool first = c.groups == 1 && c.channels() < k.block && !c.is_point();
  const Count image = Count(c.images()) * channels * c.places(c.x) * Count(kFloat);
  const Count result = Count(c.images()) * filters * c.places(c.y) * Count(kFloat);
  Count weights = filters * (first ? Count(c.channels()) : channels) * c.kernel() * Count(kFloat);
  if (c.groups > 1)
    weights = c.w.shape()[1] == 1 ? filters * c.kernel() * Count(kFloat) : c.w.bytes();
  const Count inside = (first ? Count(0) : image) + weights + result + gathered(c, k);
  return std::max(inside, result + c.y.bytes()) - c.y.bytes();
}

}  // namespace

Count convolution_workspace(const Node& node, const Kernels& k) {
  if (node.arg("transposed").as_bool()) return 0;
  const Convolution c(node);
  if (!c.is_known() || c.images() == 0) return 0;
  const auto* image = layout_of(c.x, k);
  const bool copied = image && !plugins::is_contiguous(*image);
  if (!is_of_onednn(c, k.threads))
    return c.groups > 1 ? Count(0) : columns(c) + (copied ? c.x.bytes() : Count(0));
  if (image && plugins::is_channels_last(*image)) return channels_last(c, k);
  return blocked(c, k) + (copied ? c.x.bytes() : Count(0));
}

/// max_pool2d is max_pool2d_with_indices, whose indices are dropped.
Count max_pool_workspace(const Node& node, const Kernels&) {
  return node.result(0).numel() * Count(kIndex);
}

}  // namespace memory
