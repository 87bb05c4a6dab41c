#include "work.hpp"

#include <tmeter/cpp/op_class.hpp>

namespace pruning {
namespace {

using tmeter::OpClass;
using tmeter::Value;

/// The parameter an argument is, perhaps seen through views: `addmm(bias, x, t(weight))`.
tmeter::Tensor weight_of(Value v) {
  for (int steps = 0; steps < 8 && v.is_tensor(); ++steps) {
    if (v.tensor()) return v.tensor();
    const auto maker = v.producer();
    if (!maker || maker.arg_count() == 0) break;
    const auto kind = tmeter::op_class(maker.op());
    if (kind != OpClass::kView && kind != OpClass::kCopy) break;
    v = maker.arg(size_t{0});
  }
  return tmeter::Tensor();
}

}  // namespace

std::vector<double> macs_by_tensor(const tmeter::Graph& graph, const tmeter::Call& call) {
  std::vector<double> out;
  for (const auto& node : graph.nodes()) {
    const auto macs = call.read("macs", node);
    if (!macs.is_number() || macs.real() == 0) continue;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto weight = weight_of(node.arg(i));
      if (!weight || !weight.is_parameter() || weight.shape().rank() < 2) continue;
      out.resize(graph.tensors().size());
      out[weight.canonical().index()] += macs.real();
      break;  // one weight an operator: what recurrent layers share is not taken apart
    }
  }
  return out;
}

}  // namespace pruning
