// `--hardware auto`: the profile of this machine, measured once and kept.
//
// A separate program measures (apps/measure), so that tmeter links nothing for it; it is started
// before the worker is, and before any model is opened. Its output is kept in
// $XDG_CACHE_HOME/tmeter/hardware.toml, with the machine and the version of tmeter. A file that is
// damaged, or of another machine or version, is measured again.
#pragma once
#include <string>

#include "core/config/settings.hpp"

namespace tmeter::app {

struct MeasuredHardware {
  std::string text;  ///< TOML, like any profile
  core::HardwareProfile profile;
};

/// Takes the profile from the cache if it is of this machine, unless `again`. Unless `quiet`,
/// reports on standard error that it measures and why the result could not be kept. Throws
/// Error(kUsage) if measuring fails.
MeasuredHardware measured_hardware(bool quiet, bool again = false);

/// The file of the kept profile; empty if the environment names no place.
std::string measured_hardware_file();

/// Fills in the profile if the settings request "auto".
void measure_if_auto(core::Settings& settings, bool quiet);

/// Part of the title of a profile whose rates are low because other processes ran.
inline constexpr std::string_view kWhileBusy = " while busy, ";

}  // namespace tmeter::app
