// The metric `peak_activation_bytes`, and the finding that says where the peak is and what is
// alive.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace memory {

inline constexpr std::string_view kPeak = "peak_activation_bytes";
inline constexpr std::string_view kPeakConvention =
    "bytes of inputs, results and intermediate tensors alive at once while an operator runs; each "
    "is freed after its last use, inputs and outputs stay, views and in-place operators share; "
    "workspaces inside kernels and parameters are not counted; a module's figure is its largest";

void find_peak(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace memory
