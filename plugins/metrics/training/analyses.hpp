// The analyses of the plugin.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace training {

// The memory of a step: saved bytes, the peak and its place, the curve, and the modules to
// checkpoint.

/// Gradients and optimizer states. They depend only on the tensors, so a weights file without a
/// graph has them, too.
void find_states(const tmeter::Graph& graph, tmeter::Call& call);

/// `saved_bytes` and `step_peak_bytes`.
void find_step(const tmeter::Graph& graph, tmeter::Call& call);
/// The findings and the curve.
void report_step(const tmeter::Graph& graph, tmeter::Call& call);

// FLOPs of a training step per token as torchtitan counts them. They follow from parameters and
// configuration, so a folder needs no operators.

inline constexpr std::string_view kTorchtitan =
    "torchtitan: 6 × parameters that a token uses (without look-up tables, and only the chosen "
    "share of routed experts) + 6 × heads × (query-key + value width) × attended tokens for each "
    "attention, causal or not (get_nparams_and_flops of pytorch/torchtitan)";

/// Emits training_flops_per_token for a folder whose model type has a rule, with sequences of
/// `training.sequence` tokens. Emits nothing for other models.
void find_flops_per_token(const tmeter::Graph& graph, tmeter::Call& call);

/// Model and hardware FLOPs utilization: the share of the device's peak that a step of a known
/// duration reaches, without and with the work that checkpointing repeats. Needs
/// `training.step-time` and the hardware profile; emits nothing without the former.
void find_utilization(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace training
