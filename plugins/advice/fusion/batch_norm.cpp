// Convolution or linear layer, then batch norm in eval mode: y = (w x + b - mean) · γ/√(var + ε) +
// β equals one convolution with weights w γ/√(var + ε) (Jacob et al., arXiv:1712.05877,
// section 3.2; torch.nn.utils.fusion.fuse_conv_bn_eval).
#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>

#include "rules.hpp"

namespace fusion {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Tensor;
using tmeter::Value;

template <size_t N>
bool named(const Node& node, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), tmeter::base_name(node.op())) != names.end();
}

constexpr std::array<std::string_view, 9> kConvolutions{"conv1d",
                                                        "conv2d",
                                                        "conv3d",
                                                        "conv_transpose1d",
                                                        "conv_transpose2d",
                                                        "conv_transpose3d",
                                                        "_convolution_mode",
                                                        "_convolution",
                                                        "convolution"};
constexpr std::array<std::string_view, 4> kBatchNorms{
    "batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training", "cudnn_batch_norm"};

bool is_transposed(const Node& conv) {
  return tmeter::base_name(conv.op()).starts_with("conv_transpose") ||
         conv.arg("transposed").as_bool();
}

/// One of PyTorch's batch norms that uses the statistics collected in training.
bool is_fixed_batch_norm(const Node& node) {
  return node.op().starts_with("aten::") && named(node, kBatchNorms) &&
         !node.arg("training").as_bool() && node.arg("running_mean").tensor() &&
         node.arg("running_var").tensor();
}

/// The number of outputs of a weight; 0 if they do not correspond to channels of the batch norm.
int64_t outputs_of(const Foldable& f) {
  const auto shape = f.weight.shape();
  if (shape.rank() < 2) return 0;
  if (!f.transposed) return shape[0];
  return f.product.arg("groups").as_int(1) == 1 ? shape[1] : 0;
}

/// Whether the batch norm normalises the product's outputs: dim 1 of convolutions; the outputs of
/// linear layers are the last dim, which is dim 1 of matrices only.
bool channels_agree(const Foldable& f) {
  const auto shape = f.norm.arg("input").shape();
  const auto outputs = outputs_of(f);
  return outputs > 0 && shape.rank() > 1 && shape[1] == outputs &&
         f.norm.arg("running_mean").tensor().numel() == tmeter::Count(outputs) &&
         (!is_linear(f.product) || shape.rank() == 2);
}

/// False for a weight with other users, because they would get the folded weight.
bool has_weight_of_its_own(const Foldable& f, const plugins::Uses& uses) {
  return f.weight && f.weight.is_parameter() && uses.of(f.weight) == 1 &&
         (!f.bias || uses.of(f.bias) == 1);
}

std::optional<Foldable> fold_after(const Node& product, const Model& model) {
  const bool linear = is_linear(product);
  if (!linear && !is_convolution(product)) return std::nullopt;
  const auto skipped = linear ? plugins::SkippedOps::kReshape : plugins::SkippedOps::kIdentity;
  const auto use = model.uses.sole_use(product.result(0), skipped);
  if (!use || !is_fixed_batch_norm(use.node) ||
      use.node.arg("input").handle() != use.value.handle())
    return std::nullopt;
  Foldable f{product, use.node, product.arg("weight").tensor(), product.arg("bias").tensor(),
             !linear && is_transposed(product)};
  const bool bias_is_computed = !f.bias && product.arg("bias").is_tensor();
  if (bias_is_computed || !has_weight_of_its_own(f, model.uses) || !channels_agree(f))
    return std::nullopt;
  return f;
}

}  // namespace

bool is_convolution(const Node& node) {
  return node.op().starts_with("aten::") && named(node, kConvolutions) &&
         node.arg("weight").is_tensor() && node.result_count() == 1;
}

bool is_linear(const Node& node) { return node.op() == "aten::linear"; }

std::vector<Foldable> foldable_norms(const Model& model) {
  std::vector<Foldable> out;
  for (const auto& node : model.graph.nodes())
    if (auto f = fold_after(node, model)) out.push_back(*f);
  return out;
}

/// The batch norm's traffic, minus the bias that a convolution without one gets.
std::vector<advice::Saving> fold_savings(const std::vector<Foldable>& norms, Model& model) {
  std::vector<advice::Saving> out;
  for (const auto& f : norms) {
    auto saved = model.estimator.traffic_of(f.norm);
    if (!saved) continue;
    if (!f.bias)
      saved->read -=
          static_cast<double>(outputs_of(f)) * static_cast<double>(f.weight.dtype().bytes());
    auto saving =
        model.estimator.merged({f.product, f.norm}, *saved, tmeter::op_class(f.product.op()), 1);
    if (saving) out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
