// What share of a machine's rates the operators of LibTorch reach, as a run of typical ones by this very tmeter
// shows (share/tmeter/calibration.pt2): the part of a measured profile that its kernels cannot tell.
#pragma once
#include <string>

#include "core/config/hardware.hpp"

namespace tmeter::app {

/// overhead.operator, efficiency.CLASS and bandwidth.CLASS as TOML, or a comment that says why they are missing.
/// `peaks`: the rates they are shares of; `when`: "measured 2026-11-22".
std::string calibrate(const core::HardwareProfile& peaks, const std::string& when);

}  // namespace tmeter::app
