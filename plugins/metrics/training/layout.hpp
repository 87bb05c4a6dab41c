// The layout of a tensor's elements in its storage, by the rules of torch's operators: whether a
// reshape is a view or a copy decides what autograd keeps.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace training {

using Dims = std::vector<int64_t>;
using DimSpan = std::span<const int64_t>;

inline DimSpan dims_of(const tmeter::Shape& shape) {
  return {shape.begin(), static_cast<size_t>(shape.rank())};
}

/// Strides of elements that lie one after the other, the last dim first.
Dims contiguous_strides(DimSpan shape);
/// As `contiguous_strides`, channels (dim 1) first: NHWC, NDHWC.
Dims channels_last_strides(DimSpan shape);

/// Dims of size 1 are ignored.
bool is_contiguous(DimSpan shape, DimSpan strides);
bool is_channels_last(DimSpan shape, DimSpan strides);
/// No element twice, no gap: a permutation of contiguous.
bool is_dense(DimSpan shape, DimSpan strides);

/// The strides of a view with the shape `to`; empty: a reshape has to copy
/// (at::detail::computeStride).
std::optional<Dims> view_strides(DimSpan from, DimSpan strides, DimSpan to);

/// Dense strides of `shape` in the order of the dims of `like`, which has as many: the layout of an
/// elementwise operator's result.
Dims strides_like(DimSpan shape, DimSpan like);

}  // namespace training
