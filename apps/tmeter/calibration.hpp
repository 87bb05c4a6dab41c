// What running operators costs beside peak rates: a small model (apps/measure/calibration.pt2) is run by this very
// tmeter, and its times are held against the rates that were measured.
#pragma once
#include <string>

#include "core/config/hardware.hpp"

namespace tmeter::app {

/// What was run on one thread, and on all: reports by operator (tsv) with macs and op_time.
struct CalibrationRuns {
  std::string one, all;
};

/// overhead.operator and efficiency.CLASS as TOML; of each the better run, as threads that wait for
/// processors others use do worse than one. Empty when they are no such reports.
std::string calibrated_figures(const CalibrationRuns& runs, const core::HardwareProfile& rates,
                               const std::string& when);

/// Runs the model; the figures, or a comment that says why there are none.
std::string calibrate(const core::HardwareProfile& rates, const std::string& when);

}  // namespace tmeter::app
