// Deprecated: a helper of tmeter's own plugins, which have it in plugins/common now. It stays,
// unchanged, so that plugins that include it still build; new plugins should not include it.
//
// The arithmetic of a weight: the multiply-accumulates of the operators that use it. For
// advice on weights (quantization, pruning).
#pragma once
#include <vector>

#include "call.hpp"
#include "op_class.hpp"

TMETER_SDK_BEGIN

namespace detail {

/// The parameter behind an argument, also through views: `addmm(bias, x, t(weight))`.
inline Tensor weight_behind(Value v) {
  constexpr int kMostViews = 8;
  for (int i = 0; i < kMostViews && v.is_tensor(); ++i) {
    if (v.tensor()) return v.tensor();
    const auto maker = v.producer();
    if (!maker || maker.arg_count() == 0) break;
    const auto kind = op_class(maker.op());
    if (kind != OpClass::kView && kind != OpClass::kCopy) break;
    v = maker.arg(size_t{0});
  }
  return Tensor();
}

}  // namespace detail

/// By canonical tensor; empty if the file has no operators or no plugin
/// counts `macs`. An operator counts for its first parameter of rank 2 or more; operators that take
/// theirs in a list (recurrent layers) are left out.
inline std::vector<double> weight_macs(const Graph& graph, const Call& call) {
  std::vector<double> out;
  for (const auto& node : graph.nodes()) {
    const auto macs = call.read("macs", node);
    if (!macs.is_number() || macs.real() == 0) continue;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto weight = detail::weight_behind(node.arg(i));
      if (!weight || !weight.is_parameter() || weight.shape().rank() < 2) continue;
      out.resize(graph.tensors().size());
      out[weight.canonical().index()] += macs.real();
      break;
    }
  }
  return out;
}

TMETER_SDK_END
