// The rules: each looks for one pattern all over the graph and gives what every place would gain.
// docs/conventions.md, "Fusion", has them as a table, with the bytes each saves.
#pragma once
#include "plugins/advice/common/gains.hpp"
#include "plugins/common/uses.hpp"

#pragma GCC visibility push(hidden)
namespace fusion {

struct Model {
  const tmeter::Graph& graph;
  const tmeter::Call& call;
  const plugins::Uses& uses;
  advice::Ledger& ledger;
};

/// A batch norm in eval mode that alone uses a convolution's or linear layer's result.
struct Foldable {
  tmeter::Node product, norm;
  tmeter::Tensor weight, bias;  // of the product; bias may be none
  bool transposed = false;      // the outputs are dim 1 of the weight
};
std::vector<Foldable> foldable_norms(const Model& model);
std::vector<advice::Gain> gains_of(const std::vector<Foldable>& norms, Model& model);

/// conv or linear → multiplied [→ added to] by what no input is in: folded like a batch norm.
std::vector<advice::Gain> scales(Model& model);

/// conv or linear [→ foldable batch norm] → activation: the activation done before the result is
/// written.
std::vector<advice::Gain> epilogues(const std::vector<Foldable>& norms, Model& model);

/// matmul [→ scale] [→ mask] → softmax → matmul: scaled_dot_product_attention. Scalings of queries
/// that are `taken`, into the weights before them, are not counted again.
std::vector<advice::Gain> attentions(std::span<const advice::Gain> taken, Model& model);

/// Elementwise operators whose results nobody else needs: one loop over the numbers. Without those
/// that are `taken`, as an attention's scale and mask.
std::vector<advice::Gain> chains(std::span<const advice::Gain> taken, Model& model);

/// Linear layers of one parent that take the same input: one product, and views of its result.
std::vector<advice::Gain> parallel_linears(Model& model);

bool is_convolution(const tmeter::Node& node);
bool is_linear(const tmeter::Node& node);
/// An activation that makes each number of one number: not glu.
bool is_pointwise_activation(const tmeter::Node& node);

}  // namespace fusion
#pragma GCC visibility pop
