#include "core/report/writing.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Runs one writer; false when its plugin has failed before.
bool run_writer(Registry& registry, const Report& report, const ReportTarget& target,
                OutputStream& out) {
  auto& plugin = find_writer(registry, target.format);
  registry.open(plugin);
  if (!plugin.failure.empty()) return false;
  const auto* writers = plugin.capability<tmeter_writers>(TMETER_CAP_REPORT_WRITER);
  for (uint32_t i = 0; writers && i < writers->count; ++i) {
    const auto* w = writers->get(i);
    if (std::string_view(w->name.ptr, w->name.len) != target.format) continue;
    const auto status =
        invoke(plugin.call, "while writing report '" + target.format + "'", [&](tmeter_call* call) {
          return w->write(call, to_handle(&report), to_handle(&out), w->user);
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

[[noreturn]] void refuse_several(const std::string& format, const std::vector<Plugin*>& plugins) {
  std::set<std::string> ids;
  for (const auto* p : plugins) ids.insert(p->manifest.id);
  std::string list;
  for (const auto& id : ids) list += (list.empty() ? "" : ", ") + id;
  throw Error(ErrorKind::kUsage, "report format '" + format + "' is written by several plugins: " +
                                     list + "; leave one out with --plugins=-" + *ids.rbegin());
}

/// Two names of one file, by whatever links; what is no regular file (/dev/null) may be named
/// twice.
bool same_file(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  const bool has_a = stat(a.c_str(), &x) == 0, has_b = stat(b.c_str(), &y) == 0;
  if (has_a != has_b) return false;
  if (has_a) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  std::error_code failed;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
  };
  return place(a) == place(b) && !failed;
}

}  // namespace

ReportTarget parse_report_target(const std::string& text) {
  const auto equals = text.find('=');
  ReportTarget t{text.substr(0, equals),
                 equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (t.format.empty() || (equals != std::string::npos && t.file.empty())) {
    throw Error(ErrorKind::kUsage,
                "--report " + text + ": FORMAT or FORMAT=FILE is expected, as in json=report.json");
  }
  return t;
}

void require_own_files(const std::vector<ReportTarget>& targets, const std::string& model) {
  for (auto t = targets.begin(); t != targets.end(); ++t) {
    if (t->file.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::kUsage, "--report " + t->format + "=" + t->file + ": " + why);
    };
    if (same_file(t->file, model)) refuse("this is the model file itself; name another file");
    for (auto other = targets.begin(); other != t; ++other) {
      if (!other->file.empty() && same_file(t->file, other->file))
        refuse("the report " + other->format + "=" + other->file +
               " goes to the same file; name another file");
    }
  }
}

Plugin& find_writer(Registry& registry, const std::string& format) {
  std::vector<std::string> known;
  std::vector<Plugin*> found;
  for (const auto& p : registry.plugins()) {
    for (const auto& w : p->manifest.writers) {
      if (w.name == format) found.push_back(p.get());
      known.push_back(w.name);
    }
  }
  const auto is_there = [](const Plugin* p) { return !p->library.empty(); };
  if (std::any_of(found.begin(), found.end(), is_there))
    std::erase_if(found, [&](const Plugin* p) { return !is_there(p); });
  if (found.size() > 1) refuse_several(format, found);
  if (found.size() == 1) return *found.front();
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
  throw Error(ErrorKind::kUsage, "unknown report format '" + format + "'" +
                                     did_you_mean(format, known) + "; known: " + list);
}

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

void write_reports(Registry& registry, const Report& report,
                   const std::vector<ReportTarget>& targets, const Screen& screen, Outlet& outlet) {
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool to_file = !targets[i].file.empty();
    OutputStream out(outlet, i, to_file ? screen.color_in_files : screen.color,
                     to_file ? 0 : screen.columns);
    if (run_writer(registry, report, targets[i], out)) {
      out.flush();
    } else {
      outlet.message("report " + targets[i].format + " is not written: its plugin failed");
    }
  }
}

}  // namespace tmeter::core
