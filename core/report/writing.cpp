#include "core/report/writing.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

/// Whether two names are links to one regular file. Other files (/dev/null) may be named
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

/// Prefix of the formats of `tmeter diff`, whose users leave it out.
constexpr std::string_view kOfComparisons = "diff-";

std::vector<const WriterManifest*> all_writers(const Registry& registry) {
  std::vector<const WriterManifest*> out;
  for (const auto& p : registry.plugins()) {
    for (const auto& w : p->manifest.writers) out.push_back(&w);
  }
  return out;
}

std::string writer_for(const Registry& registry, const std::string& file,
                       std::string_view preferred) {
  const auto dotted = lower_case(std::filesystem::path(file).extension().string());
  const auto extension = dotted.substr(dotted.empty() ? 0 : 1);
  std::vector<std::string> names, listed;
  const auto colon = file.find(':');
  for (const auto* w : all_writers(registry)) {
    if (colon != file.npos && w->name == file.substr(0, colon))
      throw Error(ErrorKind::kUsage, "--report " + printable(file) +
                                         ": '=' separates format and file, as in --report " +
                                         printable(w->name + "=" + file.substr(colon + 1)));
    if (!w->name.starts_with(kOfComparisons))
      listed.push_back(w->name + " (." + w->extension + ")");
    if (!extension.empty() && lower_case(w->extension) == extension) names.push_back(w->name);
  }
  if (std::find(names.begin(), names.end(), extension) != names.end()) return extension;
  if (std::find(names.begin(), names.end(), preferred) != names.end())
    return std::string(preferred);
  if (names.size() == 1) return names.front();
  const auto report = "--report " + printable(file) + ": ";
  if (!names.empty()) {
    throw Error(ErrorKind::kUsage, report + "." + extension + " files are written by " +
                                       joined(names) + "; say which, as in --report " +
                                       names.front() + "=" + printable(file));
  }
  throw Error(ErrorKind::kUsage, report +
                                     "no format has the extension of this file, and none is "
                                     "called so; known: " +
                                     joined(listed));
}

[[noreturn]] void refuse_several(const std::string& format, const std::vector<Plugin*>& plugins) {
  std::set<std::string> ids;
  for (const auto* p : plugins) ids.insert(p->manifest.id);
  throw Error(ErrorKind::kUsage, "report format '" + format + "' is written by several plugins: " +
                                     joined({ids.begin(), ids.end()}) +
                                     "; leave one out with --plugins=-" + *ids.rbegin());
}

}  // namespace

ReportTarget parse_report_target(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos && text.find_first_of("./") != std::string::npos)
    return {"", text};  // names of formats contain neither
  ReportTarget t{text.substr(0, equals),
                 equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (t.format.empty() || (equals != std::string::npos && t.file.empty())) {
    throw Error(ErrorKind::kUsage, "--report " + text +
                                       ": FORMAT, FILE or FORMAT=FILE is expected, as in json, "
                                       "report.json or json=report.json");
  }
  return t;
}

void require_own_files(const std::vector<ReportTarget>& targets, const std::string& model) {
  for (auto t = targets.begin(); t != targets.end(); ++t) {
    if (t->file.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::kUsage,
                  "--report " + t->format + (t->format.empty() ? "" : "=") + t->file + ": " + why);
    };
    if (same_file(t->file, model)) refuse("this is the model file itself; name another file");
    for (auto other = targets.begin(); other != t; ++other) {
      if (!other->file.empty() && same_file(t->file, other->file))
        refuse("the report " + other->format + (other->format.empty() ? "" : "=") + other->file +
               " goes to the same file; name another file");
    }
  }
}

void choose_writers(const Registry& registry, std::vector<ReportTarget>& targets, bool terminal,
                    std::string_view preferred) {
  for (auto& t : targets) {
    if (t.format.empty()) t.format = writer_for(registry, t.file, preferred);
    const auto& writers = find_writer(registry, t.format).manifest.writers;
    const auto writer = std::find_if(writers.begin(), writers.end(),
                                     [&](const auto& w) { return w.name == t.format; });
    if (terminal && t.file.empty() && writer->media_type.starts_with("text/html")) {
      throw Error(
          ErrorKind::kUsage,
          "--report html: a page cannot be shown in a terminal; name a file, as in --report "
          "html=report.html, or give --open, which shows it in the browser");
    }
    if (terminal && t.file.empty() && !is_text(writer->media_type)) {
      throw Error(ErrorKind::kUsage,
                  "--report " + t.format + ": " + printable(writer->media_type) +
                      " cannot be shown in a terminal; name a file, as in --report " + t.format +
                      "=report." + printable(writer->extension));
    }
  }
}

Plugin& find_writer(const Registry& registry, const std::string& format) {
  std::vector<std::string> listed;
  std::vector<Plugin*> found;
  std::string meant;
  const auto lower = lower_case(format);
  for (const auto& p : registry.plugins()) {
    for (const auto& w : p->manifest.writers) {
      if (w.name == format) found.push_back(p.get());
      if (w.name.starts_with(kOfComparisons)) continue;
      listed.push_back(w.name);
      if (w.name == lower || (meant.empty() && w.extension == lower)) meant = w.name;
    }
  }
  const auto is_there = [](const Plugin* p) { return !p->library.empty(); };
  if (std::any_of(found.begin(), found.end(), is_there))
    std::erase_if(found, [&](const Plugin* p) { return !is_there(p); });
  if (found.size() > 1) refuse_several(format, found);
  if (found.size() == 1) return *found.front();
  throw Error(ErrorKind::kUsage, "unknown report format '" + format + "'" +
                                     did_you_mean(meant.empty() ? lower : meant, listed) +
                                     "; known: " + joined(listed));
}

bool is_text(std::string_view media_type) {
  constexpr std::array<std::string_view, 6> kText{"application/json",       "application/xml",
                                                  "application/yaml",       "application/toml",
                                                  "application/javascript", "application/sql"};
  constexpr std::array<std::string_view, 3> kStructuredSuffixes{"+json", "+xml", "+yaml"};
  auto type = lower_case(std::string(media_type.substr(0, media_type.find(';'))));
  type.erase(type.find_last_not_of(' ') + 1);
  return type.empty() || type.starts_with("text/") ||
         std::find(kText.begin(), kText.end(), type) != kText.end() ||
         std::any_of(kStructuredSuffixes.begin(), kStructuredSuffixes.end(),
                     [&](std::string_view suffix) { return type.ends_with(suffix); });
}

namespace {

/// Runs one writer; false if its plugin has already failed.
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
int columns_from_environment() {
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
  const bool in_color = is_set("NO_COLOR") ? false : force.empty() ? terminal : forced;
  screen.color = mode == ColorMode::kAlways || (mode == ColorMode::kAuto && in_color);
  screen.color_in_files = mode == ColorMode::kAlways;
  winsize size{};
  if (terminal) {
    screen.columns =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }
  if (const int columns = columns_from_environment()) screen.columns = columns;
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
