// The formulas of other tools: fvcore, and tools that hook modules: thop, ptflops, torchinfo,
// torchmeter, torchstat.
//
// Each counts one per multiply-accumulate and adds formulas of its own for other layers. Here the
// formulas apply to operators, called by modules or functions. Multiply-accumulates that a tool
// miscounts or misses are counted correctly (docs/conventions.md).
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

/// `macs`: the multiply-accumulates of the node, after causal halving.
tmeter::Cell tool_flops(const tmeter::Node& n, Tool tool, const tmeter::Cell& macs);

// fvcore.nn.FlopCountAnalysis, reproduced: which operators it counts, and by which formula.

/// `macs` is the true value. An operator with MACs that fvcore does not count is zero by rule here,
/// and a warning names it.
tmeter::Cell fvcore_flops(const tmeter::Node& n, const tmeter::Cell& macs, tmeter::Call& call);

}  // namespace flops
