// Convolution or linear layer, then an activation: applied while the results are in registers, it
// saves writing and reading the value between the two.
#include <map>
#include <tmeter/cpp/op_class.hpp>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Saving;
using tmeter::Node;
using tmeter::OpClass;

constexpr bool is_by_element(std::string_view name) {
  return name != "glu" && name != "prelu" && name != "_prelu_kernel" &&
         !name.starts_with("rrelu") && name != "log_sigmoid_forward";
}

}  // namespace

bool is_pointwise_activation(const Node& node) {
  return tmeter::op_class(node.op()) == OpClass::kActivation && node.result_count() == 1 &&
         is_by_element(tmeter::base_name(node.op()));
}

std::vector<Saving> epilogues(const std::vector<Foldable>& norms, Model& model) {
  std::map<size_t, Node> norm_of;  // by node index of the product
  for (const auto& f : norms) norm_of.emplace(f.product.index(), f.norm);
  std::vector<Saving> out;
  for (const auto& node : model.graph.nodes()) {
    if (!is_convolution(node) && !is_linear(node)) continue;
    std::vector<Node> nodes{node};
    if (const auto norm = norm_of.find(node.index()); norm != norm_of.end())
      nodes.push_back(norm->second);
    const auto between = nodes.back().result(0);
    const auto use = model.uses.sole_use(between, plugins::SkippedOps::kIdentity);
    if (!use || !is_pointwise_activation(use.node)) continue;
    const auto bytes = plugins::bytes_of(between);
    auto saving = model.estimator.merged({nodes.back(), use.node}, {bytes, bytes},
                                         tmeter::op_class(nodes.back().op()));
    if (!saving) continue;
    nodes.push_back(use.node);
    saving->kind = advice::kind_of(nodes);
    saving->removed = {use.node};
    out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
