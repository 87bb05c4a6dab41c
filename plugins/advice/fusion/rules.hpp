// The rules: each searches the graph for one pattern and returns the saving of every match.
// docs/conventions.md, "Fusion", lists them with the bytes that each saves.
#pragma once
#include "plugins/advice/common/savings.hpp"
#include "plugins/common/uses.hpp"

#pragma GCC visibility push(hidden)
namespace fusion {

struct Model {
  const tmeter::Graph& graph;
  const tmeter::Call& call;
  const plugins::Uses& uses;
  advice::SavingsEstimator& estimator;
};

/// A batch norm in eval mode that is the only user of the result of a convolution or linear layer.
struct Foldable {
  tmeter::Node product, norm;
  tmeter::Tensor weight, bias;  // weight and bias of the product; the bias may be missing
  bool transposed = false;      // the outputs are dim 1 of the weight
};
std::vector<Foldable> foldable_norms(const Model& model);
std::vector<advice::Saving> fold_savings(const std::vector<Foldable>& norms, Model& model);

/// conv or linear → mul [→ add] by values that no input reaches: folded like a batch norm.
std::vector<advice::Saving> scales(Model& model);

/// conv or linear [→ foldable batch norm] → activation: the activation is computed before the
/// result is written.
std::vector<advice::Saving> epilogues(const std::vector<Foldable>& norms, Model& model);

/// matmul [→ scale] [→ mask] → softmax → matmul: scaled_dot_product_attention. Scalings of queries
/// that are `taken` are already folded into the weights and not counted again.
std::vector<advice::Saving> attentions(std::span<const advice::Saving> taken, Model& model);

/// Elementwise operators whose results have no other users: one loop over the elements. Operators
/// that are `taken`, such as the scale and mask of an attention, are left out.
std::vector<advice::Saving> chains(std::span<const advice::Saving> taken, Model& model);

/// Linear layers of one parent with the same input: one product, and views of its result.
std::vector<advice::Saving> parallel_linears(Model& model);

bool is_convolution(const tmeter::Node& node);
bool is_linear(const tmeter::Node& node);
/// An activation whose output elements depend on one input element each: not glu.
bool is_pointwise_activation(const tmeter::Node& node);

}  // namespace fusion
#pragma GCC visibility pop
