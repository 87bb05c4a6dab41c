// The analyses of the plugin.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace training {

// Figures of a step's memory: kept bytes, the peak and its place, the curve, and the modules to
// checkpoint.

/// Gradients and states depend only on the tensors: a file of weights without a graph has them,
/// too.
void find_states(const tmeter::Graph& graph, tmeter::Call& call);

/// `saved_bytes` and `step_peak_bytes`.
void find_step(const tmeter::Graph& graph, tmeter::Call& call);
/// The findings and the curve.
void report_step(const tmeter::Graph& graph, tmeter::Call& call);

// FLOPs of a training step per token as torchtitan counts them: by parameters and configuration, so
// that a folder needs no operators.

inline constexpr std::string_view kTorchtitan =
    "torchtitan: 6 × parameters that a token uses (look-up tables left out, of routed experts the "
    "chosen share) + 6 × heads × (query-key + value width) × attended tokens for each attention, "
    "causal or not (get_nparams_and_flops of pytorch/torchtitan)";

/// Emits training_flops_per_token of a folder whose model type has a rule, for sequences of
/// `training.sequence` tokens; nothing for others.
void find_flops_per_token(const tmeter::Graph& graph, tmeter::Call& call);

// Model and hardware FLOPs utilization: the share of the device's peak that a step of a known
// duration reaches, without and with the work that checkpointing repeats.

/// Uses `training.step-time` and the hardware profile; nothing without the former.
void find_utilization(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace training
