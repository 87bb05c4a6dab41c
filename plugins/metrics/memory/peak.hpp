// The metric `peak_activation_bytes`, and the finding that says where the peak is and what is
// alive; `predicted_peak_bytes`, what a run by tmeter's executor would take on so many threads.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace memory {

inline constexpr std::string_view kPeak = "peak_activation_bytes";
inline constexpr std::string_view kPeakConvention =
    "bytes of inputs, results and intermediate tensors alive at once while an operator runs; each "
    "is freed after its last use, inputs and outputs stay, views and in-place operators share; "
    "workspaces inside kernels and parameters are not counted; a module's figure is its largest";

inline constexpr std::string_view kPredictedPeak = "predicted_peak_bytes";
inline constexpr std::string_view kPredictedPeakConvention =
    "bytes that `measured_peak_bytes` counts, told from the graph: inputs, results and "
    "intermediate "
    "tensors alive at once while an operator runs, each freed at its last use, and "
    "`predicted_workspace_bytes`; a reshape that must copy takes memory; a module's figure is its "
    "largest";
inline constexpr std::string_view kPredictedWorkspace = "predicted_workspace_bytes";
inline constexpr std::string_view kPredictedWorkspaceConvention =
    "bytes that LibTorch's CPU kernel takes for itself while an operator runs: float32, "
    "convolutions, "
    "recurrent layers, attention, norms, pooling, copies of what does not lie as the kernel wants "
    "it "
    "(docs/conventions.md has the formulas); others 0";

/// What the metric `output_bytes` says, whoever answers for the operator; inside a module that a
/// handler answers for the nodes have no figures, and what they make is worked out.
std::optional<tmeter::Count> made_by(const tmeter::Node& node, const tmeter::Call& call);

/// The argument whose memory a result has, as the schema of an in-house operator says; empty where the
/// result has its own, or nobody says.
std::optional<size_t> shared_by(const tmeter::Node& node, size_t result, const tmeter::Call& call);

void find_peak(const tmeter::Graph& graph, tmeter::Call& call);

/// Nothing is told unless the option `threads` says on how many.
void predict_peak(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace memory
