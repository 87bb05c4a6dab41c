// Running report writers. Their output goes to the sink in pieces; the sink lets it appear at its
// destination once all of them have succeeded.
#pragma once
#include <string>
#include <vector>

#include "core/plugin_host/registry.hpp"
#include "core/report/report.hpp"
#include "core/report/targets.hpp"

namespace tmeter::core {

enum class ColorMode { kAuto, kAlways, kNever };

/// Properties of standard output.
struct Screen {
  bool color = false, color_in_files = false;
  bool terminal = false;
  int columns = 0;  // terminal width or $COLUMNS, 0 for other destinations
};
Screen this_screen(ColorMode mode);

/// Writes one report to the sink's target `i`.
void write_report(Registry& registry, const Report& report, const ReportTarget& target, size_t i,
                  const Screen& screen, HostSink& sink);

/// Report i goes to the sink's target i. Each target has a writer.
void write_reports(Registry& registry, const Report& report,
                   const std::vector<ReportTarget>& targets, const Screen& screen, HostSink& sink);

}  // namespace tmeter::core
