// Attention in separate operators: matmul [→ scale] [→ mask] → softmax → matmul. The fused operator
// scaled_dot_product_attention(q, k, v, attn_mask, scale) keeps the scores in the cache (Dao et
// al., FlashAttention, arXiv:2205.14135): no tensor between the products is written or read.
#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Saving;
using plugins::SkippedOps;
using plugins::Use;
using tmeter::Node;
using tmeter::Value;

constexpr std::array<std::string_view, 3> kProducts{"matmul", "bmm", "baddbmm"};
constexpr std::array<std::string_view, 4> kScales{"mul", "div", "multiply", "true_divide"};
constexpr std::array<std::string_view, 3> kMasks{"add", "masked_fill", "where"};
constexpr std::array<std::string_view, 3> kSoftmaxes{"softmax", "_softmax", "_safe_softmax"};
constexpr std::array<std::string_view, 2> kCasts{"to", "_to_copy"};

template <size_t N>
bool is(const Node& node, const std::array<std::string_view, N>& names) {
  return node.op().starts_with("aten::") && node.result_count() == 1 &&
         std::find(names.begin(), names.end(), tmeter::base_name(node.op())) != names.end();
}

Value left_of(const Node& product) {
  const auto batch = product.arg("batch1");
  return batch.is_tensor() ? batch : product.arg("self");
}
Value right_of(const Node& product) {
  for (const auto* name : {"other", "mat2", "batch2"})
    if (product.arg(name).is_tensor()) return product.arg(name);
  return Value();
}

bool is_product_of_activations(const Node& node) {
  return is(node, kProducts) && !left_of(node).tensor() && !right_of(node).tensor() &&
         right_of(node).shape().rank() >= 3;
}

/// The operand that is not the scores.
Value other_than(const Node& node, const Value& scores) {
  const auto self = node.arg("self");
  return self.handle() == scores.handle() ? node.arg("other") : self;
}

/// Whether a factor is one for all scores, or one for each row, so that the queries could be scaled
/// instead.
bool is_scale(const Node& node, const Value& scores) {
  if (!is(node, kScales)) return false;
  const auto factor = other_than(node, scores);
  if (node.arg("self").handle() != scores.handle() && tmeter::base_name(node.op()) != "mul")
    return false;  // 1 / scores
  return !factor.is_tensor() || factor.shape().rank() == 0 || factor.shape().back() == 1;
}

bool is_mask(const Node& node, const Value& scores) {
  return is(node, kMasks) &&
         plugins::element_count(node.result(0).shape()) == plugins::element_count(scores.shape());
}

bool is_softmax(const Node& node) {
  if (!is(node, kSoftmaxes)) return false;
  const auto dim = node.arg("dim").as_int(), rank = node.result(0).shape().rank();
  return rank > 1 && (dim == -1 || dim == rank - 1);
}

/// Follows the scores from one product to the other.
class Path {
 public:
  Path(const Node& first, const plugins::Uses& uses) : uses_(uses), nodes_{first} {}

  bool reaches_values() {
    for (;;) {
      const auto before = nodes_.back().result(0);
      const auto use = uses_.sole_use(before, SkippedOps::kReshape);
      if (!use || !keeps_matrix(before, use.value)) return false;
      if (softmax_ && is_product_of_activations(use.node)) {
        nodes_.push_back(use.node);
        return left_of(use.node).handle() == use.value.handle();
      }
      if (!take(use)) return false;
    }
  }
  std::vector<Node> nodes() && { return std::move(nodes_); }

 private:
  /// Whether a view keeps rows and columns.
  static bool keeps_matrix(const Value& a, const Value& b) {
    const auto x = a.shape(), y = b.shape();
    return x.rank() >= 2 && y.rank() >= 2 && x[-1] == y[-1] && x[-2] == y[-2];
  }

  bool take(const Use& use) {
    const bool scale = !masked_ && !softmax_ && is_scale(use.node, use.value);
    const bool mask = !softmax_ && is_mask(use.node, use.value);
    const bool soft = !softmax_ && is_softmax(use.node);
    const bool drop = softmax_ && tmeter::base_name(use.node.op()) == "dropout";
    if (!scale && !mask && !soft && !drop && !is(use.node, kCasts)) return false;
    masked_ = masked_ || mask;
    softmax_ = softmax_ || soft;
    nodes_.push_back(use.node);
    return true;
  }

  const plugins::Uses& uses_;
  std::vector<Node> nodes_;
  bool masked_ = false, softmax_ = false;
};

/// The operator that scales queries or keys before `product`, as in nn.MultiheadAttention.
Node scaling_of(const Value& operand, const Node& product, const plugins::Uses& uses) {
  const auto maker = plugins::origin(operand, SkippedOps::kView).producer();
  if (!maker || !is(maker, kScales) || !maker.arg("self").is_tensor()) return Node();
  const auto factor = maker.arg("other");
  const bool number = !factor.is_tensor() || plugins::element_count(factor.shape()) == 1;
  const auto use = uses.sole_use(maker.result(0), SkippedOps::kView);
  return number && use && use.node.handle() == product.handle() ? maker : Node();
}

}  // namespace

std::vector<Saving> attentions(std::span<const Saving> taken, Model& model) {
  std::vector<Saving> out;
  const auto is_taken = [&](const Node& node) {
    return std::any_of(taken.begin(), taken.end(), [&](const Saving& saving) {
      return saving.nodes.back().handle() == node.handle();
    });
  };
  for (const auto& node : model.graph.nodes()) {
    if (!is_product_of_activations(node)) continue;
    Path path(node, model.uses);
    if (!path.reaches_values()) continue;
    auto nodes = std::move(path).nodes();
    const auto product = nodes.front();
    for (const auto& operand : {left_of(product), right_of(product)}) {
      const auto scaling = scaling_of(operand, product, model.uses);
      if (scaling && !is_taken(scaling)) nodes.push_back(scaling);
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const Node& a, const Node& b) { return a.index() < b.index(); });
    double between = 0;
    for (size_t i = 0; i + 1 < nodes.size(); ++i) between += plugins::bytes_of(nodes[i].result(0));
    auto saving =
        model.estimator.merged(std::move(nodes), {between, between}, tmeter::OpClass::kAttention);
    if (saving) out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
