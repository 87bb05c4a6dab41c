// The largest batch, context and image of a graph with open sizes, by trials at other sizes.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace fit {

/// Inference of a model that no engine serves: parameters, buffers and the peak of activations.
void fit_inference(const tmeter::Graph& graph, tmeter::Count memory, const tmeter::Call& call);

/// Training, where the run has `step_peak_bytes`.
void fit_training(const tmeter::Graph& graph, tmeter::Count memory, const tmeter::Call& call);

}  // namespace fit
#pragma GCC visibility pop
