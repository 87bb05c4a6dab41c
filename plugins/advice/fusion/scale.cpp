// A convolution or linear layer whose result is multiplied by constants, one per channel or one for
// all: a layer scale, or a frozen batch norm in separate operators. The factors can be multiplied
// into the weights, and a constant that is added afterwards into the bias.
#include <algorithm>
#include <array>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Saving;
using tmeter::Node;
using tmeter::Value;

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& names) {
  return node.op().starts_with("aten::") && node.result_count() == 1 &&
         std::find(names.begin(), names.end(), tmeter::base_name(node.op())) != names.end();
}

constexpr std::array<std::string_view, 2> kFactors{"mul", "multiply"};
constexpr std::array<std::string_view, 1> kSummands{"add"};

/// Whether a shape has one element, or one per channel (`dim` of the result).
bool is_by_channel(const tmeter::Shape& numbers, const tmeter::Shape& result, int64_t dim) {
  const int64_t missing = result.rank() - numbers.rank();
  if (missing < 0) return false;
  for (int64_t i = 0; i < numbers.rank(); ++i)
    if (numbers[i] != 1 && (i + missing != dim || numbers[i] != result[dim])) return false;
  return true;
}

class Folding {
 public:
  Folding(const Node& product, const Model& model, const plugins::DependsOnInputs& depends)
      : model_(model),
        depends_on_inputs_(depends),
        result_(product.result(0)),
        channel_(is_linear(product) ? result_.shape().rank() - 1 : 1),
        nodes_{product} {}

  /// Appends the only user of the last result if its name is in `names` and its other operand is
  /// such a constant.
  template <size_t N>
  bool take(const std::array<std::string_view, N>& names) {
    const auto use = model_.uses.sole_use(nodes_.back().result(0), plugins::SkippedOps::kIdentity);
    if (!use || !is_one_of(use.node, names) || !use.node.arg("alpha").is_none()) return false;
    const auto self = use.node.arg("self"), other = use.node.arg("other");
    const bool first = self.handle() == use.value.handle();
    const auto numbers = first ? other : self;
    if (!first && other.handle() != use.value.handle()) return false;
    if (numbers.is_tensor() &&
        (depends_on_inputs_(numbers) || !is_by_channel(numbers.shape(), result_.shape(), channel_)))
      return false;
    nodes_.push_back(use.node);
    return true;
  }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Bytes of the bias that a layer without one gets.
  double new_bias() const {
    const auto shape = result_.shape();
    return static_cast<double>(shape[channel_]) * static_cast<double>(result_.dtype().bytes());
  }

 private:
  const Model& model_;
  const plugins::DependsOnInputs& depends_on_inputs_;
  Value result_;
  int64_t channel_;
  std::vector<Node> nodes_;
};

bool is_foldable(const Node& product, const Model& model) {
  if (!is_linear(product) && !is_convolution(product)) return false;
  const auto weight = product.arg("weight").tensor(), bias = product.arg("bias").tensor();
  return weight && weight.is_parameter() && model.uses.of(weight) == 1 &&
         (!product.arg("bias").is_tensor() || (bias && model.uses.of(bias) == 1)) &&
         product.result(0).is_tensor() && product.result(0).shape().rank() >= 2 &&
         (is_linear(product) || product.result(0).shape().rank() == weight.shape().rank());
}

}  // namespace

std::vector<Saving> scales(Model& model) {
  std::vector<Saving> out;
  const plugins::DependsOnInputs depends(model.graph);
  for (const auto& node : model.graph.nodes()) {
    if (!is_foldable(node, model)) continue;
    Folding folding(node, model, depends);
    if (!folding.take(kFactors)) continue;
    const bool shifted = folding.take(kSummands);
    advice::Traffic saved;
    bool has_traffic = true;
    for (size_t i = 1; i < folding.nodes().size(); ++i) {
      const auto traffic = model.estimator.traffic_of(folding.nodes()[i]);
      has_traffic = has_traffic && traffic;
      if (traffic) saved += *traffic;
    }
    if (!has_traffic) continue;
    if (shifted && node.arg("bias").is_none()) saved.read -= folding.new_bias();
    auto saving = model.estimator.merged(folding.nodes(), saved, tmeter::op_class(node.op()),
                                         folding.nodes().size() - 1);
    if (saving) out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
