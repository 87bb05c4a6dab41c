// What share of a machine's rates the operators of LibTorch reach, as a run of typical ones shows
// (apps/measure/operators): the part of a measured profile that its kernels cannot tell.
#pragma once
#include <string>

#include "core/config/hardware.hpp"
#include "core/report/report.hpp"

namespace tmeter::app {

/// TOML of `overhead.operator`, `efficiency.CLASS` and `bandwidth.CLASS`, measured by running tmeter itself;
/// a comment that says why where nothing can be run. `peaks`: the rates they are shares of.
std::string operator_rates(const core::HardwareProfile& peaks, const std::string& date);

/// The same of a report of such a run.
std::string rates_of(const core::Report& report, const core::HardwareProfile& peaks,
                     const std::string& date);

}  // namespace tmeter::app
