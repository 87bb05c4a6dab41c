// fvcore.nn.FlopCountAnalysis, reproduced: which operators it counts, and by which formula.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

/// `macs` is the true figure: what fvcore leaves out although it has MACs is zero by its rule, and
/// a warning names it.
tmeter::Cell fvcore_flops(const tmeter::Node& n, const tmeter::Cell& macs, tmeter::Call& call);

}  // namespace flops
