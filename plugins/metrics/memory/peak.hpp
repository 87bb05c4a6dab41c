// The metric `peak_activation_bytes` and the finding about the operator and the live tensors at the
// peak; `predicted_peak_bytes`, the memory of a run by tmeter's executor on a given number of
// threads.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace memory {

inline constexpr std::string_view kPeak = "peak_activation_bytes";
inline constexpr std::string_view kPeakConvention =
    "bytes of inputs, results and intermediate tensors alive at once while an operator runs; each "
    "is freed after its last use, inputs and outputs stay, views and in-place operators share; "
    "workspaces inside kernels and parameters are not counted; a module's value is its largest";

inline constexpr std::string_view kPredictedPeak = "predicted_peak_bytes";
inline constexpr std::string_view kPredictedPeakConvention =
    "`measured_peak_bytes`, predicted from the graph: bytes of inputs, results and intermediate "
    "tensors alive at once while an operator runs, each freed at its last use, and "
    "`predicted_workspace_bytes`; a reshape that copies takes memory; a module's value is its "
    "largest";
inline constexpr std::string_view kPredictedWorkspace = "predicted_workspace_bytes";
inline constexpr std::string_view kPredictedWorkspaceConvention =
    "bytes that LibTorch's CPU kernel allocates while an operator runs, beyond results: float32, "
    "convolutions, recurrent layers, attention, norms, pooling, copies into the layout that the "
    "kernel needs (docs/conventions.md has the formulas); others 0";

/// The option `convention`: `output_bytes` of tensors changed in place, too.
bool counts_in_place(const tmeter::Call& call);

/// New memory: the metric `output_bytes`, by any plugin that answers for the operator; inside a
/// module that a handler answers, the nodes have no values, and their new memory is computed.
std::optional<tmeter::Count> made_by(const tmeter::Node& node, const tmeter::Call& call);

/// The argument whose memory a result has, by the schema of an in-house operator; empty if
/// the result has its own, or this is unknown.
std::optional<size_t> shared_by(const tmeter::Node& node, size_t result, const tmeter::Call& call);

void find_peak(const tmeter::Graph& graph, tmeter::Call& call);

/// Emits nothing if the option `threads` is 0, or if it is not set and the graph is large.
void predict_peak(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace memory
