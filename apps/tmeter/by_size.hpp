// The parts of a report about other sizes than the present ones: formulas and the sweep.
#pragma once

#include "apps/tmeter/command_line.hpp"
#include "core/report/report.hpp"

namespace tmeter::app {

/// Fills `report.formulas` and the totals of `report.sweep`; both are empty if all sizes are fixed.
/// Needs the report's results.
void add_sizes(core::Report& report, const CommandLine& line, core::Graph& graph,
               const std::vector<core::Plugin*>& plugins, const core::HardwareSource& hardware);

}  // namespace tmeter::app
