// The formulas of tools that hook modules: thop, ptflops, torchinfo, torchmeter, torchstat.
//
// Each counts a multiply-accumulate as one, and adds figures of its own for other layers. Here the
// formulas hold for operators, whether a module or a function called them, and what a tool gets
// wrong or does not see among multiply-accumulates is counted as it is (docs/conventions.md).
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

enum class Tool {
  kThop,
  kPtflops,
  kTorchinfo,
  kTorchmeter,
  kTorchmeterFlops,
  kTorchstat,
  kTorchstatMadd
};

/// `macs`: the multiply-accumulates of the node, or what causal halving leaves of them.
tmeter::Cell tool_flops(const tmeter::Node& n, Tool tool, const tmeter::Cell& macs);

}  // namespace flops
