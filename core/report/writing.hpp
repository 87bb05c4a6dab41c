// Running report writers. What they write goes, in pieces, to the outlet, which lets it appear at
// its destination once all of them have succeeded.
#pragma once
#include <string>
#include <vector>

#include "core/plugin_host/registry.hpp"
#include "core/report/report.hpp"

namespace tmeter::core {

/// "json=out.json": a writer and a file, or standard output when there is none.
struct ReportTarget {
  std::string format, file;
};
ReportTarget parse_report_target(const std::string& text);

/// Throws Error(kUsage) when two reports go to one file, or one goes onto the model: by the same
/// path, spelt otherwise, or through links.
void require_own_files(const std::vector<ReportTarget>& targets, const std::string& model);

enum class ColorMode { kAuto, kAlways, kNever };

/// What standard output is.
struct Screen {
  bool color = false, color_in_files = false;
  int columns = 0;  // terminal width, 0 when it is none
};
Screen this_screen(ColorMode mode);

/// Report i goes to the outlet's target i. Throws Error(kUsage) when a format is unknown (with the
/// nearest).
void write_reports(Registry& registry, const Report& report,
                   const std::vector<ReportTarget>& targets, const Screen& screen, Outlet& outlet);

/// The plugin that has the writer; throws Error(kUsage).
Plugin& find_writer(Registry& registry, const std::string& format);

}  // namespace tmeter::core
