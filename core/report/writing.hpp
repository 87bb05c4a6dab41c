// Running report writers and putting what they wrote where it belongs: all reports are written in
// full before the first byte reaches its destination.
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

/// Throws Error(kUsage) when a format is unknown (with the nearest) or a file cannot be written;
/// then no file is left half-written.
void write_reports(Registry& registry, const Report& report,
                   const std::vector<ReportTarget>& targets, ColorMode color);

/// The plugin that has the writer; throws Error(kUsage).
Plugin& find_writer(Registry& registry, const std::string& format);

}  // namespace tmeter::core
