// fvcore.nn.FlopCountAnalysis, reproduced: which operators it counts, and by which formula.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

/// `macs` is the true value. An operator with MACs that fvcore does not count is zero by rule here,
/// and a warning names it.
tmeter::Cell fvcore_flops(const tmeter::Node& n, const tmeter::Cell& macs, tmeter::Call& call);

}  // namespace flops
