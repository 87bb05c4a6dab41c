// What is said of a step's memory: bytes that are kept, the peak and where it is, the curve, and
// which modules to checkpoint.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace training {

/// Gradients and states go by the tensors alone: a file of weights without a graph has them, too.
void find_states(const tmeter::Graph& graph, tmeter::Call& call);

/// `saved_bytes` and `step_peak_bytes`.
void find_step(const tmeter::Graph& graph, tmeter::Call& call);
/// The findings and the curve.
void report_step(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace training
