// Linear layers of one parent with the same input, such as query, key and value, or gate and up:
// with their weights concatenated they are one product, which reads the input once.
#include <map>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Saving;
using tmeter::Node;

bool takes_weight_alone(const Node& node, const plugins::Uses& uses) {
  const auto weight = node.arg("weight").tensor();
  const auto bias = node.arg("bias");
  return weight && weight.is_parameter() && uses.of(weight) == 1 &&
         (!bias.is_tensor() || (bias.tensor() && uses.of(bias.tensor()) == 1));
}

/// The module around a layer and the layer's name in it: "attention", "query". In a module with
/// several weights, the layer is named by its weight.
struct Place {
  tmeter::Module home;
  std::string_view name;
};
Place place_of(const Node& node) {
  const auto weight = node.arg("weight").tensor();
  const auto owner = weight.owner();
  if (owner.tensor_count() <= 2 && owner.parent()) return {owner.parent(), owner.name()};
  const auto dot = weight.name().rfind('.');
  return {owner, dot == std::string_view::npos ? weight.name() : weight.name().substr(dot + 1)};
}

using Key = std::tuple<const tmeter_value*, const tmeter_module*, int32_t>;

/// Includes the home: `lm_head` beside a model is not one of its layers.
Key key_of(const Node& node) {
  return {node.arg("input").handle(), place_of(node).home.handle(),
          node.arg("weight").dtype().id()};
}

/// "query, key, value in BertSelfAttention"
std::string layers_of(const std::vector<Node>& nodes) {
  std::string text;
  for (const auto& node : nodes)
    text += (text.empty() ? "" : ", ") + std::string(place_of(node).name);
  return text + advice::in_module(place_of(nodes.front()).home);
}

}  // namespace

std::vector<Saving> parallel_linears(Model& model) {
  std::map<Key, std::vector<Node>> by_input;
  std::vector<Key> order;
  for (const auto& node : model.graph.nodes()) {
    if (!is_linear(node) || !takes_weight_alone(node, model.uses)) continue;
    auto& nodes = by_input[key_of(node)];
    if (nodes.empty()) order.push_back(key_of(node));
    nodes.push_back(node);
  }
  std::vector<Saving> out;
  for (const auto& key : order) {
    auto& nodes = by_input[key];
    if (nodes.size() < 2) continue;
    const auto input = plugins::bytes_of(nodes.front().arg("input"));
    const auto times = static_cast<double>(nodes.size() - 1);
    auto saving = model.estimator.merged(nodes, {times * input, 0}, tmeter::OpClass::kMatmul);
    if (!saving) continue;
    saving->kind = layers_of(nodes);
    out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
