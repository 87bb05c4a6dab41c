// Measures the shares of a machine's rates that LibTorch's operators reach, by a run of typical
// operators (share/tmeter/calibration.pt2): the part of a measured profile that its kernels cannot
// supply.
#pragma once
#include <string>

#include "core/config/hardware.hpp"

namespace tmeter::app {

/// overhead.operator, efficiency.CLASS and bandwidth.CLASS as TOML, or a comment with the reason
/// why they are missing. `peaks`: the rates that the shares refer to; `when`: "measured
/// 2026-11-22".
std::string calibrate(const core::HardwareProfile& peaks, const std::string& when);

}  // namespace tmeter::app
