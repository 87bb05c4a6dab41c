// The ways to count the FLOPs of a training step (docs/training.md).
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "backward_work.hpp"

namespace training {

enum class Convention { kExact, kTorch, kSixN, kPalm, kMegatron };

inline constexpr std::string_view kConventionNames = "exact torch 6n palm megatron";

Convention convention_of(std::string_view name);
std::string_view text_of(Convention convention);

struct Flops {
  tmeter::Cell backward, step;  // forward and backward together
  tmeter::Cell forward;  // the forward of an operator that runs again; not defined by the rules for
                         // language models
};

/// The inputs of the rules for language models, node by node.
class LanguageModel {
 public:
  explicit LanguageModel(const tmeter::Graph& graph);
  /// Token ids among the inputs; 0: the model has none, and the conventions for language models do
  /// not apply.
  tmeter::Count tokens() const { return tokens_; }
  /// Elements of the parameters that this node is the first to use, embeddings left out.
  tmeter::Count parameters_of(const tmeter::Node& node) const { return parameters_[node.index()]; }

 private:
  tmeter::Count tokens_ = 0;
  std::vector<tmeter::Count> parameters_;
};

/// Unknown if one of them is unknown.
tmeter::Cell sum_of(const tmeter::Cell& a, const tmeter::Cell& b);

Flops flops_of(const tmeter::Node& node, const tmeter::Cell& macs, const Work& work,
               Convention convention, const LanguageModel& model);

}  // namespace training
