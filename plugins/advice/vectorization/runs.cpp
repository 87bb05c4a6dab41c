#include "runs.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/uses.hpp"

namespace vectorization {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

int64_t last_dim(const Value& v) {
  const auto shape = v.shape();
  return v.is_tensor() && shape.rank() > 0 ? shape[shape.rank() - 1] : 0;
}

std::optional<Run> features(int64_t n, const Value& typed) {
  if (n <= 0) return std::nullopt;
  return Run{n, typed.dtype(), Cause::kFeatures};
}

/// Output channels; for grouped convolutions with few channels per group, those of a group.
std::optional<Run> convolution(const Node& node) {
  const auto out = node.result(0), weight = node.arg("weight");
  if (!out.is_tensor() || out.shape().rank() < 3 || !weight.is_tensor()) return std::nullopt;
  const int64_t channels = out.shape()[1],
                groups = std::max<int64_t>(node.arg("groups").as_int(), 1);
  const bool depthwise = weight.shape().rank() > 1 && weight.shape()[1] == 1;
  return features(depthwise ? channels : channels / groups, out);
}

/// Pixels of a channel, or the channels in channels-last order.
std::optional<Run> batch_norm(const Node& node, const plugins::Layouts& layouts) {
  const auto in = node.arg("input");
  if (!in.is_tensor() || in.shape().rank() < 2) return std::nullopt;
  const auto* strided = layouts.of(in);
  if (in.shape().rank() == 2 || (strided && plugins::is_channels_last(*strided)))
    return features(in.shape()[1], in);
  double pixels = 1;
  for (int64_t i = 2; i < in.shape().rank(); ++i) pixels *= static_cast<double>(in.shape()[i]);
  constexpr double kMaxRunElements = 1e15;
  return features(static_cast<int64_t>(std::min(pixels, kMaxRunElements)), in);
}

/// Elements of the last dims of the result over which an operand advances with it, or does not
/// move: the inner loop of TensorIterator has one stride for each operand, and vectors can have
/// stride 0.
double even_tail(const tmeter::Shape& operand, const tmeter::Shape& result) {
  double run = 1;
  std::optional<bool> advances;
  for (int64_t k = 1; k <= result.rank(); ++k) {
    const int64_t size = result[result.rank() - k];
    if (size == 1) continue;
    const bool here = k <= operand.rank() && operand[operand.rank() - k] == size;
    if (advances && here != *advances) break;
    advances = here;
    run *= static_cast<double>(size);
  }
  return run;
}

/// Whether a layout has no gaps and overlaps in any order of the dims, which TensorIterator sorts.
bool is_dense(const plugins::Strided& s) {
  double last = 1, elements = 1;
  for (size_t i = 0; i < s.sizes.size(); ++i) {
    last += static_cast<double>(s.sizes[i] - 1) * static_cast<double>(s.strides[i]);
    elements *= static_cast<double>(s.sizes[i]);
  }
  return last == elements;
}

/// Whether the operands of the result's size have one order in memory. Unknown layouts are assumed
/// to be contiguous.
bool have_equal_layouts(const Node& node, double all, const plugins::Layouts& layouts) {
  const plugins::Strided* first = nullptr;
  bool alike = true;
  plugins::for_each_input(node, [&](const Value& v) {
    const auto* strided = layouts.of(v);
    if (!strided || plugins::element_count(v.shape()) != all) return;
    if (!first) first = strided;
    alike = alike && is_dense(*strided) && strided->strides == first->strides;
  });
  return alike;
}

std::optional<Run> elementwise(const Node& node, const plugins::Layouts& layouts) {
  if (node.result_count() != 1 || !node.result(0).is_tensor()) return std::nullopt;
  const auto result = node.result(0);
  const double all = plugins::element_count(result.shape());
  if (all <= 0) return std::nullopt;
  if (!have_equal_layouts(node, all, layouts)) return Run{1, result.dtype(), Cause::kStrides};
  double run = all;
  plugins::for_each_input(node, [&](const Value& v) {
    if (plugins::element_count(v.shape()) < all)
      run = std::min(run, even_tail(v.shape(), result.shape()));
  });
  constexpr double kMaxRunElements = 1e15;
  return Run{static_cast<int64_t>(std::min(run, kMaxRunElements)), result.dtype(),
             run < all ? Cause::kBroadcast : Cause::kNone};
}

std::optional<Run> of_class(OpClass kind, const Node& node, const plugins::Layouts& layouts) {
  const auto out = node.result(0);
  switch (kind) {
    case OpClass::kConvolution:
      return convolution(node);
    case OpClass::kMatmul:
    case OpClass::kRecurrent:
    case OpClass::kEmbedding:
      return features(last_dim(out), out);
    case OpClass::kAttention:
      return features(last_dim(node.arg("query")), out);
    case OpClass::kSoftmax:
      return features(last_dim(out), out);
    case OpClass::kNormalization:
      if (tmeter::base_name(node.op()).find("batch_norm") != std::string_view::npos)
        return batch_norm(node, layouts);
      return features(last_dim(out), out);
    case OpClass::kElementwise:
    case OpClass::kActivation:
      return elementwise(node, layouts);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Run> run_of(const Node& node, const plugins::Layouts& layouts) {
  if (node.result_count() == 0 || !node.result(0).is_tensor()) return std::nullopt;
  return of_class(tmeter::op_class(node.op()), node, layouts);
}

}  // namespace vectorization
