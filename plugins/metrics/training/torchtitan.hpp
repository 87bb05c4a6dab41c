// FLOPs of a training step per token as torchtitan counts them: by parameters and configuration, so
// that a folder needs no operators.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace training {

inline constexpr std::string_view kTorchtitan =
    "torchtitan: 6 × parameters that a token meets, without tables that are only looked up, of "
    "routed experts the chosen share; 6 × heads × (query-key + value width) × attended tokens for "
    "each attention, causal or not (get_nparams_and_flops of pytorch/torchtitan)";

/// Emits training_flops_per_token of a folder whose model type has a rule, for sequences of
/// `training.sequence` tokens; nothing for others.
void find_flops_per_token(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace training
