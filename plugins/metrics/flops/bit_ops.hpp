// Bit operations: multiply-accumulates times the bits of both operands, as the literature on
// quantized networks counts them (UNIQ, Baskin et al. 2018; Bayesian Bits, van Baalen et al. 2020).
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

inline constexpr std::string_view kBitOps = "bit_ops";

/// Call it first for each graph: records whether the graph has dequantize operators.
void look_for_dequantize(const tmeter::Graph& graph);

/// Unknown where the width of an operand is not visible.
tmeter::Cell bit_ops(const tmeter::Node& n, tmeter::Call& call);

/// For a module call whose MACs a module handler gives as a whole: uses the widths shared by all
/// products inside; unknown if they differ.
tmeter::Cell bit_ops_of_call(const tmeter::Graph&, const tmeter::ModuleCall& m, tmeter::Call& call);

}  // namespace flops
