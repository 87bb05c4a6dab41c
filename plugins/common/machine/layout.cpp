#include "plugins/common/machine/layout.hpp"

#include <algorithm>

namespace machine {
namespace {

using tmeter::Node;
using tmeter::Value;

double elements(const Value& v) { return static_cast<double>(v.shape().numel().value()); }

/// Entry `axis` of a list of sizes; the last entry replaces missing ones.
int64_t entry(const Value& list, int64_t axis) {
  const auto last = static_cast<int64_t>(list.size()) - 1;
  return last < 0 ? list.as_int(1) : list[static_cast<size_t>(std::min(axis, last))].as_int(1);
}

/// Weights are [output channels, input channels / groups, kernel].
void lay_out_convolution(const Node& n, Layout& out) {
  const auto weight = n.arg("weight"), input = n.arg("input");
  const bool is_plain = n.arg("groups").as_int(1) == 1 && !n.arg("transposed").as_bool();
  if (!is_plain || !weight.is_tensor() || weight.shape().rank() < 3) return;
  const auto shape = weight.shape();
  out.columns = static_cast<double>(shape[0]);
  out.channels = static_cast<double>(shape[1]);
  bool is_3x3 = shape.rank() == 4, steps_by_one = true;
  double read = 1;
  for (int64_t axis = 0; axis < shape.rank() - 2; ++axis) {
    const auto kernel = shape[axis + 2], stride = entry(n.arg("stride"), axis);
    is_3x3 = is_3x3 && kernel == 3;
    steps_by_one = steps_by_one && stride == 1 && entry(n.arg("dilation"), axis) == 1;
    if (kernel > 0 && kernel < stride)
      read *= static_cast<double>(kernel) / static_cast<double>(stride);
  }
  out.winograd = is_3x3 && steps_by_one;
  if (input.is_tensor())
    out.unread = elements(input) * static_cast<double>(input.dtype().bytes()) * (1 - read);
}

/// A second operand of rank 3 and more is another matrix for each matrix of the first.
void lay_out_product(const Node& n, Layout& out) {
  const auto shape = n.result(0).shape();
  if (shape.empty() || shape.back() <= 0) return;
  int64_t right_rank = 0;
  for (const auto* name : {"weight", "mat2", "other", "batch2"})
    if (const auto right = n.arg(name); right.is_tensor()) right_rank = right.shape().rank();
  if (right_rank == 0) return;
  const auto columns = static_cast<double>(shape.back());
  const double rows =
      right_rank > 2 && shape.rank() > 1 ? static_cast<double>(shape[-2]) : out.outputs / columns;
  out.columns = std::min(rows, columns);
}

}  // namespace

Layout layout_of(const Node& node, OpClass kind) {
  Layout out;
  if ((kind != OpClass::kConvolution && kind != OpClass::kMatmul) || node.result_count() == 0 ||
      !node.result(0).is_tensor())
    return out;
  out.outputs = elements(node.result(0));
  if (kind == OpClass::kConvolution)
    lay_out_convolution(node, out);
  else
    lay_out_product(node, out);
  return out;
}

}  // namespace machine
