#include "core/report/writing.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

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

/// $COLUMNS, as a shell exports it; 0 if it is unset or invalid.
int columns_asked_for() {
  constexpr int kMaxColumns = 10'000;
  const char* value = std::getenv("COLUMNS");
  const std::string_view text = value ? value : "";
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && columns > 0 && columns <= kMaxColumns ? columns : 0;
}

}  // namespace

Screen this_screen(ColorMode mode) {
  Screen screen;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  // https://no-color.org, https://force-color.org
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
  };
  const auto force = is_set("FORCE_COLOR") ? std::string_view(std::getenv("FORCE_COLOR")) : "";
  const bool forced = !force.empty() && force != "0" && force != "false";
  const bool wanted = is_set("NO_COLOR") ? false : force.empty() ? terminal : forced;
  screen.color = mode == ColorMode::kAlways || (mode == ColorMode::kAuto && wanted);
  screen.color_in_files = mode == ColorMode::kAlways;
  winsize size{};
  if (terminal) {
    screen.columns =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }
  if (const int columns = columns_asked_for()) screen.columns = columns;
  screen.terminal = terminal;
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
