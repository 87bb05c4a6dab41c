// Destinations of reports, and runs of their writers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin_host/registry.hpp"
#include "core/report/report.hpp"

namespace tmeter::core {

// Destinations of reports, and the writer of each.

/// "json=out.json": a writer and a file; "json": a writer and standard output; "out.json": a file
/// whose extension decides the writer (`choose_writers`).
struct ReportTarget {
  std::string format, file;
};
ReportTarget parse_report_target(const std::string& text);

/// Throws Error(kUsage) if two reports have the same file, or one would replace the model, under
/// the same path, another spelling of it, or through links.
void require_own_files(const std::vector<ReportTarget>& targets, const std::string& model);

/// Gives a writer to each target: of several with the file's extension, the one named like
/// it ("json"), else `preferred`. Throws Error(kUsage) when there is no such format (with the
/// nearest) or the extension does not decide, and for bytes (tmeter_writer.media_type) that would
/// go to a terminal.
void choose_writers(const Registry& registry, std::vector<ReportTarget>& targets, bool terminal,
                    std::string_view preferred = {});

/// The plugin of the writer. Throws Error(kUsage).
Plugin& find_writer(const Registry& registry, const std::string& format);

/// Whether files of a media type can be read on a terminal: "text/…", JSON, XML and types
/// based on them, such as "image/svg+xml". True for an empty type.
bool is_text(std::string_view media_type);

// Running report writers. Their output goes to the sink in pieces; the sink lets it appear at its
// destination once all of them have succeeded.

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
