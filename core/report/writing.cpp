#include "core/report/writing.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

/// Runs one writer; false when its plugin has failed before.
bool run_writer(Registry& registry, const Report& report, const ReportTarget& target,
                OutputStream& out) {
  auto& plugin = find_writer(registry, target.format);
  registry.open(plugin);
  if (!plugin.failure.empty()) return false;
  for (const auto& w : plugin.offers().writers) {
    if (view(w.name) != target.format) continue;
    const auto status =
        invoke(plugin.call, "while writing report '" + target.format + "'", [&](tmeter_call* call) {
          return w.write(call, to_handle(&report), to_handle(&out), w.user);
        });
    if (status == TMETER_UNSUPPORTED) {
      throw Error(ErrorKind::kPlugin,
                  "plugin " + plugin.manifest.id + " declines to write this report");
    }
    return true;
  }
  throw Error(ErrorKind::kPlugin,
              "plugin " + plugin.manifest.id + " does not have the writer its manifest names");
}

}  // namespace

Screen this_screen(ColorMode mode) {
  Screen screen;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  screen.color = mode == ColorMode::kAlways ||
                 (mode == ColorMode::kAuto && terminal && !(no_color && *no_color));
  screen.color_in_files = mode == ColorMode::kAlways;
  winsize size{};
  if (terminal) {
    screen.columns =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }
  return screen;
}

void write_report(Registry& registry, const Report& report, const ReportTarget& target, size_t i,
                  const Screen& screen, HostSink& sink) {
  const bool to_file = !target.file.empty();
  OutputStream out(sink, i, to_file ? screen.color_in_files : screen.color,
                   to_file ? 0 : screen.columns);
  if (run_writer(registry, report, target, out)) {
    out.flush();
    sink.report_whole(i);
  } else {
    sink.message("report " + target.format + " is not written: its plugin failed");
  }
}

void write_reports(Registry& registry, const Report& report,
                   const std::vector<ReportTarget>& targets, const Screen& screen, HostSink& sink) {
  for (size_t i = 0; i < targets.size(); ++i)
    write_report(registry, report, targets[i], i, screen, sink);
}

}  // namespace tmeter::core
