#include "profile.hpp"

#include <algorithm>
#include <vector>

namespace architecture {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

/// Operators that do not change elements: chains and attention continue through them.
bool passes_on(OpClass c) {
  return c == OpClass::kView || c == OpClass::kCopy || c == OpClass::kControl;
}

template <class F>
void for_each_producer(const Value& value, const F& f) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) for_each_producer(value[i], f);
  } else if (const auto producer = value.producer()) {
    f(producer);
  }
}

/// A parameter, or a view of one: `addmm(bias, x, t(weight))`.
bool is_weight(const Value& value) {
  if (!value.is_tensor()) return false;
  if (value.tensor()) return value.tensor().is_parameter();
  const auto maker = value.producer();
  return maker && passes_on(tmeter::op_class(maker.op())) && maker.arg_count() > 0 &&
         maker.arg(size_t{0}).tensor() && maker.arg(size_t{0}).tensor().is_parameter();
}

bool has_weight(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i)
    if (is_weight(node.arg(i))) return true;
  return false;
}

bool mixes_positions(const Node& node) {
  const auto weight = node.arg("weight").shape();
  return weight.rank() > 2 && weight.product(2, weight.rank()) > tmeter::Count(1);
}

class Builder {
 public:
  explicit Builder(const tmeter::Graph& graph)
      : chain_(graph.nodes().size()), scores_(graph.nodes().size()) {}

  void add(const Node& node, double macs) {
    const auto kind = tmeter::op_class(node.op());
    const bool computes = !passes_on(kind);
    size_t before = 0;
    bool uses_scores = false;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      for_each_producer(node.arg(i), [&](const Node& p) {
        before = std::max(before, chain_[p.index()]);
        uses_scores = uses_scores || scores_[p.index()];
      });
    }
    chain_[node.index()] = before + (computes ? 1 : 0);
    scores_[node.index()] =
        kind == OpClass::kSoftmax || (uses_scores && (!computes || is_dropout(node)));
    out_.depth = std::max(out_.depth, chain_[node.index()]);
    out_.attentions += kind == OpClass::kAttention || (kind == OpClass::kMatmul && uses_scores);
    out_.layers_of_weights += kind == OpClass::kMatmul && has_weight(node);
    out_.mixing_convolutions += kind == OpClass::kConvolution && mixes_positions(node);
    ++out_.calls[static_cast<size_t>(kind)];
    out_.macs[static_cast<size_t>(kind)] += macs;
    out_.total_macs += macs;
  }

  Profile take() { return out_; }

 private:
  static bool is_dropout(const Node& node) { return tmeter::base_name(node.op()) == "dropout"; }

  Profile out_;
  std::vector<size_t> chain_;
  std::vector<bool> scores_;  // the result is a softmax's, perhaps reshaped
};

}  // namespace

Profile profile_of(const tmeter::Graph& graph, const tmeter::Call& call) {
  Builder builder(graph);
  for (const auto& node : graph.nodes()) builder.add(node, call.read("macs", node).real());
  return builder.take();
}

}  // namespace architecture
