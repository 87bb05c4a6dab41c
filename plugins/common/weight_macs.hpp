// The multiply-accumulates that depend on each weight: the work that quantizing or pruning it can
// affect.
#pragma once
#include <tmeter/cpp/call.hpp>
#include <tmeter/cpp/op_class.hpp>
#include <vector>

#pragma GCC visibility push(hidden)
namespace plugins {

/// The parameter that an argument is, seen through views: `addmm(bias, x, t(weight))`.
inline tmeter::Tensor parameter_behind(tmeter::Value v) {
  constexpr int kMaxViews = 8;
  for (int i = 0; i < kMaxViews && v.is_tensor(); ++i) {
    if (v.tensor()) return v.tensor();
    const auto maker = v.producer();
    if (!maker || maker.arg_count() == 0) break;
    const auto kind = tmeter::op_class(maker.op());
    if (kind != tmeter::OpClass::kView && kind != tmeter::OpClass::kCopy) break;
    v = maker.arg(size_t{0});
  }
  return tmeter::Tensor();
}

/// By tensor index; tied tensors are counted at their canonical one. Empty when the file has no
/// operators or no plugin counts `macs`. An operator counts for its first parameter of rank 2 or
/// more; operators that take their parameters in a list (recurrent layers) are left out.
inline std::vector<double> weight_macs(const tmeter::Graph& graph, const tmeter::Call& call) {
  std::vector<double> out;
  for (const auto& node : graph.nodes()) {
    const auto macs = call.read("macs", node);
    if (!macs.is_number() || macs.real() == 0) continue;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto weight = parameter_behind(node.arg(i));
      if (!weight || !weight.is_parameter() || weight.shape().rank() < 2) continue;
      out.resize(graph.tensors().size());
      out[weight.canonical().index()] += macs.real();
      break;
    }
  }
  return out;
}

}  // namespace plugins
#pragma GCC visibility pop
