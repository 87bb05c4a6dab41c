// The layout of a tensor's elements in its storage, by the rules of torch's operators: whether a
// reshape is a view or a copy decides what autograd keeps.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace training {

using Dims = std::vector<int64_t>;
using DimSpan = std::span<const int64_t>;

inline DimSpan dims_of(const tmeter::Shape& shape) {
  return {shape.begin(), static_cast<size_t>(shape.rank())};
}

/// Strides of contiguous elements, the last dim innermost.
Dims contiguous_strides(DimSpan shape);
/// Like `contiguous_strides`, with channels (dim 1) innermost: NHWC, NDHWC.
Dims channels_last_strides(DimSpan shape);

/// Dims of size 1 are ignored.
bool is_contiguous(DimSpan shape, DimSpan strides);
bool is_channels_last(DimSpan shape, DimSpan strides);
/// Whether the strides are a permutation of contiguous ones, without overlaps and gaps.
bool is_dense(DimSpan shape, DimSpan strides);

/// The strides of a view with the shape `to`; empty: a reshape has to copy
/// (at::detail::computeStride).
std::optional<Dims> view_strides(DimSpan from, DimSpan strides, DimSpan to);

/// Dense strides of `shape` in the order of the dims of `like`, which has as many: the layout of an
/// elementwise operator's result.
Dims strides_like(DimSpan shape, DimSpan like);

// Operators whose result shares the storage of an argument.

/// Whether a dropout is active: in training with a rate above 0.
bool applies_dropout(const tmeter::Node& node, const Settings& settings);

enum class Sharing { kFresh, kView };

/// Whether the results are views of the first tensor argument, which has these strides. A reshape
/// that has to copy, a conversion to another type and an active dropout are fresh.
Sharing sharing_of(const tmeter::Node& node, const tmeter::Value& base, DimSpan strides,
                   const Settings& settings);

/// Strides of a result of a view.
Dims strides_of_view(const tmeter::Node& node, const tmeter::Value& base, DimSpan strides,
                     const tmeter::Value& result);

// The layout that at::einsum gives the two operands of a product: it keeps a view or a copy of
// each.

/// An operand as the batch of matrices that is multiplied.
struct BatchedMatrix {
  Dims shape, strides;  // permuted, before the reshape
  Dims to;              // batch, rows, columns
};

struct EinsumOperand {
  DimSpan shape, strides;
};

/// Empty when nothing is summed over (then it is an elementwise product), for equations with "..."
/// or a label twice in an operand.
std::optional<std::pair<BatchedMatrix, BatchedMatrix>> einsum_matrices(std::string_view equation,
                                                                       EinsumOperand left,
                                                                       EinsumOperand right);

}  // namespace training
