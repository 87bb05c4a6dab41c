#include "apps/tmeter/session.hpp"

#include <algorithm>
#include <new>

#include "apps/tmeter/browser.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"
#include "core/process/destination.hpp"

namespace tmeter::app {
using namespace core;
namespace {
/// The format of full reports among those that write .txt files.
constexpr std::string_view kLongReport = "full-text";
}  // namespace

Session::Session(const CommandLine& line, Worker& worker, const Screen& screen)
    : line_(line),
      worker_(worker),
      screen_(screen),
      log_(line.verbosity, &worker),
      registry_(line.settings, worker.excluded(), &log_),
      warned_at_start_(log_.warnings().size()) {
  for (const auto& text : line.assertions) assertions_.push_back(parse_assertion(text));
  report_problems();
}

void Session::begin(std::vector<ReportTarget> targets, const std::vector<std::string>& files,
                    const std::vector<std::string>& plugins) {
  targets_ = std::move(targets);
  choose_writers(registry_, targets_, screen_.terminal,
                 line_.settings.full ? kLongReport : "");  // refuse early
  enter_sandbox(files, plugins);
}

void Session::take_snapshot() { before_ = ProcessStateSnapshot::now(); }

void Session::require_unchanged_at_failure() const {
  if (before_ && !activity().checks_process_state) require_unchanged("before the run failed");
}

void Session::report_problems() {
  for (const auto& problem : registry_.problems()) {
    if (line_.verbosity >= 0) worker_.message("note: " + problem);
  }
}

void Session::enter_sandbox(const std::vector<std::string>& files,
                            const std::vector<std::string>& plugins) {
  auto rights = run_rights(line_.settings, files, registry_);
  add_rights_of_runs(rights, line_.running, line_.runs.device);
  for (const auto* p : declared_rights(registry_, plugins, targets_)) {
    if (!add_rights(rights, p->manifest.rights)) {
      throw Error(ErrorKind::kPlugin,
                  "plugin " + p->manifest.id + " declares unknown rights: '" + p->manifest.rights +
                      "'; the known ones are network, files, processes and threads");
    }
    if (line_.verbosity >= 0)
      worker_.message("note: plugin " + p->manifest.id +
                      " may use its declared rights: " + p->manifest.rights);
  }
  sandbox_ = worker_.enter_sandbox(rights);
  if (line_.verbosity < 1) return;
  for (const auto& fact : sandbox_) worker_.message("sandbox: " + fact);
}

void Session::require_unchanged(const std::string& when) const {
  const auto& all = registry_.plugins();
  const bool threads_may_stay =
      std::any_of(all.begin(), all.end(), [](const auto& p) { return p->call.keeps_threads; });
  const auto change = before_->change_since(threads_may_stay);
  if (!change.empty()) throw PluginError("", when, change);
}

const std::vector<std::string>& Session::note_failures(const std::vector<Plugin*>& plugins) {
  auto opened = plugins;
  for (const auto& t : targets_) opened.push_back(&find_writer(registry_, t.format));
  for (const auto* p : opened) {
    if (!p->failure.empty()) append_unique(failures_, {p->failure});
  }
  return failures_;
}

void Session::report_unused_settings() {
  if (line_.verbosity < 0) return;
  const auto& plugins = registry_.plugins();
  for (const auto& of_plugin : line_.settings.options) {
    const auto& name = of_plugin.first;  // clang 14 (./dev fuzz) captures no structured bindings
    const auto plugin = std::find_if(plugins.begin(), plugins.end(), [&](const auto& p) {
      return p->manifest.name == name || p->manifest.id == name;
    });
    if (plugin == plugins.end() || (*plugin)->is_open() || !(*plugin)->failure.empty()) continue;
    const bool writes = std::any_of(targets_.begin(), targets_.end(), [&](const auto& t) {
      return &find_writer(registry_, t.format) == plugin->get();
    });
    if (writes) continue;
    for (const auto& [key, setting] : of_plugin.second)
      if (setting.origin.starts_with("--set"))
        worker_.message("note: " + printable(setting.origin) + " has no effect: plugin '" + name +
                        "' takes no part in this run");
  }
}

void Session::write(const Report& report) {
  activity().stage = Stage::kWriting;
  write_reports(registry_, report, targets_, screen_, worker_);
  require_unchanged("while reports were written");
}

void Session::write(const Report& report, const ReportTarget& target, size_t i) {
  activity().stage = Stage::kWriting;
  write_report(registry_, report, target, i, screen_, worker_);
  require_unchanged("while reports were written");
}

void Session::write_text(size_t i, std::string_view text) {
  worker_.report(i, text);
  worker_.report_whole(i);
}

void Session::stopped(const ModelRuns& runs) {
  if (runs.stopped().empty()) return;
  const auto kind = runs.interrupted() ? ErrorKind::kInterrupted : ErrorKind::kRun;
  const auto message =
      about_model(Error(ErrorKind::kRun, std::string(runs.stopped())), line_.model);
  stopped_ = {static_cast<int>(kind),
              message.what() + std::string("; the report has the values until then"),
              true,
              {}};
}

Outcome Session::outcome() const {
  if (stopped_) return *stopped_;
  const bool complete = failures_.empty();
  return {complete ? 0 : static_cast<int>(ErrorKind::kPlugin), "", true, {}};
}

std::vector<ReportTarget> report_targets(const CommandLine& line,
                                         const std::vector<std::string>& files) {
  std::vector<ReportTarget> targets;
  for (const auto& r : line.settings.reports) targets.push_back(parse_report_target(r));
  const bool silent = line.verbosity < 0 || line.open;
  if (targets.empty() && !silent) targets.push_back({"text", ""});
  if (line.open) add_page(targets);
  for (auto& t : targets)
    if (!t.format.empty() && is_standard_output(t.file)) t.file.clear();
  // The details of a full report are in files, its summary is on the screen.
  const auto on_screen = [](const ReportTarget& t) { return t.file.empty(); };
  const bool summary = line.settings.full && line.verbosity >= 0;
  if (summary && std::none_of(targets.begin(), targets.end(), on_screen))
    targets.push_back({"text", ""});
  for (const auto& file : files) require_own_files(targets, file);
  return targets;
}

namespace {

/// Blames the model for exhausted memory, with its path, unless a plugin is named.
Outcome run_on_model(const CommandLine& line, const std::function<Outcome()>& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kModel, line.model + ": takes more memory than " +
                                       bytes_text(line.limits.memory) + " (--max-memory)");
  }
}

}  // namespace

int run_supervised(const CommandLine& line, const std::vector<ReportTarget>& targets,
                   const std::function<Outcome(Session&)>& work) {
  const auto screen = this_screen(line.color);
  Job job{line.model, {}, line.limits, line.verbosity < 0, line.verbosity, false};
  for (const auto& t : targets) job.targets.push_back(t.file);
  job.runs_model = line.running != RunMode::kNo;
  add_plugin_host_interfaces();
  add_report_interfaces();
  const int status = supervise(job, [&](Worker& worker) {
    return run_on_model(line, [&] {
      Session session(line, worker, screen);
      try {
        return work(session);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::kAssertion) session.require_unchanged_at_failure();
        throw;
      } catch (const std::bad_alloc&) {
        session.require_unchanged_at_failure();
        throw;
      }
    });
  });
  const bool written = status == 0 || status == static_cast<int>(ErrorKind::kAssertion) ||
                       status == static_cast<int>(ErrorKind::kPlugin);
  if (line.open && written) open_page(page_of(targets), line.verbosity < 0);
  return status;
}

}  // namespace tmeter::app
