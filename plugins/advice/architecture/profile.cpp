#include "profile.hpp"

#include <algorithm>
#include <cstdio>
#include <tmeter/cpp/units.hpp>
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

/// Whether a value is a parameter or a view of a parameter: `addmm(bias, x, t(weight))`.
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

namespace {

// The smallest share of MACs that makes a network convolutional or recurrent: a stem or a patch
// embedding does not make a transformer convolutional.
constexpr double kMinConvolutionShare = 0.2;
constexpr double kMinRecurrentShare = 0.2;

std::string kind_of(const Profile& p) {
  if (p.total_macs == 0) return "not a network: nothing is multiplied";
  const bool recurs = p.share(OpClass::kRecurrent) >= kMinRecurrentShare;
  const bool attends = p.attentions > 0;
  // Depthwise convolutions take few MACs, but only they mix positions in a ConvNeXt.
  const bool convolves =
      p.share(OpClass::kConvolution) >= kMinConvolutionShare ||
      (!recurs && !attends && 4 * p.mixing_convolutions > p.calls_of(OpClass::kMatmul));
  if (convolves + recurs + attends > 1) {
    std::string parts;
    for (const auto& [is, name] : {std::pair{convolves, "convolutions"},
                                   {recurs, "recurrent layers"},
                                   {attends, "attention"}})
      if (is) parts += (parts.empty() ? "" : " and ") + std::string(name);
    return "hybrid network of " + parts;
  }
  return convolves                                             ? "convolutional network"
         : recurs                                              ? "recurrent network"
         : attends                                             ? "transformer"
         : p.layers_of_weights == p.calls_of(OpClass::kMatmul) ? "multilayer perceptron"
                                                               : "network of matrix products";
}

struct Size {
  double below;  // MACs
  const char* text;
};
constexpr Size kSizes[]{{1e8, "tiny, below 100 MMACs"},
                        {1e9, "small, 100 MMACs to 1 GMAC"},
                        {1e10, "medium, 1 to 10 GMACs"},
                        {1e11, "large, 10 to 100 GMACs"}};

std::string size_of(const Profile& p) {
  for (const auto& s : kSizes)
    if (p.total_macs < s.below) return s.text;
  return "very large, 100 GMACs or more";
}

/// "99.9 % of the MACs in 53 convolutions"
std::string share_text(const Profile& p, OpClass c) {
  char number[16];
  std::snprintf(number, sizeof number, "%.1f", 100 * p.share(c));
  return std::string(number) + " % of the MACs in " + std::to_string(p.calls_of(c)) + " × " +
         std::string(tmeter::name_of(c));
}

}  // namespace

Classification classify(const Profile& p) {
  std::vector<OpClass> working;
  for (size_t i = 0; i < Profile::kClasses; ++i)
    if (p.macs[i] > 0) working.push_back(static_cast<OpClass>(i));
  std::stable_sort(working.begin(), working.end(),
                   [&](OpClass a, OpClass b) { return p.share(a) > p.share(b); });
  std::string evidence;
  for (const auto c : working) evidence += (evidence.empty() ? "" : ", ") + share_text(p, c);
  if (p.attentions) evidence += ", " + std::to_string(p.attentions) + " attentions";
  evidence += ", longest chain " + std::to_string(p.depth) + " operators";
  return {kind_of(p), size_of(p), evidence};
}

}  // namespace architecture
