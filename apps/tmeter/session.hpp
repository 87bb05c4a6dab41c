// The shared parts of every run of a worker: plugins, the sandbox, the check of the process state
// after plugins, and writing reports.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/tmeter/command_line.hpp"
#include "core/analysis/assertion.hpp"
#include "core/execution/model_runs.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/process_state_snapshot.hpp"
#include "core/process/supervisor.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {

class Session {
 public:
  using Clock = std::chrono::steady_clock;

  /// Finds the plugins and reports defects of their folders. Throws Error(kUsage) for a malformed
  /// assertion, PluginError when a plugin has changed the process meanwhile.
  Session(const CommandLine& line, core::Worker& worker, const core::Screen& screen);

  const CommandLine& line() const { return line_; }
  core::Registry& registry() { return registry_; }
  const core::Registry& registry() const { return registry_; }
  core::CallLog& log() { return log_; }
  const std::vector<std::string>& sandbox() const { return sandbox_; }
  /// The model's path on the command line.
  const std::vector<core::Assertion>& assertions() const { return assertions_; }

  /// Chooses the writers, and gives up all rights except to these files and the declared rights of
  /// these plugins and the writers.
  void begin(std::vector<core::ReportTarget> targets, const std::vector<std::string>& files,
             const std::vector<std::string>& plugins);

  /// Takes the reference snapshot of the process. Call it before plugins read anything, and after
  /// the sandbox and mapped files have installed their signal handlers.
  void take_snapshot();
  /// Drops the warnings of the previous model and keeps those of the plugins' start.
  void forget_warnings() { log_.keep_warnings(warned_at_start_); }
  /// Throws PluginError if a plugin has left the process changed. Checked rarely, so the plugin is
  /// unknown: the supervisor repeats the run with a check after each callback
  /// (Activity::checks_process_state).
  void require_unchanged(const std::string& when) const;
  /// The same for a run that fails: a plugin's changes may be the reason.
  void require_unchanged_at_failure() const;

  /// Names of these and the writers' plugins that do not take part because they failed.
  const std::vector<std::string>& note_failures(const std::vector<core::Plugin*>& plugins);

  /// Notes each --set for a plugin that takes no part.
  void report_unused_settings();

  /// Records that the model's runs ended early: this run then ends early, too, after writing its
  /// reports.
  void stopped(const core::ModelRuns& runs);

  void write(const core::Report& report);
  /// One report as target `i` of the run.
  void write(const core::Report& report, const core::ReportTarget& target, size_t i);
  /// The whole content of target `i`, which no plugin writes.
  void write_text(size_t i, std::string_view text);
  /// The outcome of a run whose reports are written.
  core::Outcome outcome() const;

 private:
  void report_problems();
  void enter_sandbox(const std::vector<std::string>& files,
                     const std::vector<std::string>& plugins);

  const CommandLine& line_;
  core::Worker& worker_;
  core::Screen screen_;
  core::CallLog log_;
  /// Set by take_snapshot(). Before that, no plugin has been opened in this process.
  std::optional<core::ProcessStateSnapshot> before_;
  core::Registry registry_;
  size_t warned_at_start_;
  std::vector<core::Assertion> assertions_;
  std::vector<core::ReportTarget> targets_;
  std::vector<std::string> sandbox_;
  std::vector<std::string> failures_;  // in words
  std::optional<core::Outcome> stopped_;
};

/// The reports of a command line. Throws if one would replace an input file.
std::vector<core::ReportTarget> report_targets(const CommandLine& line,
                                               const std::vector<std::string>& files);

/// Runs `work` in a supervised worker. Returns the exit status.
int run_supervised(const CommandLine& line, const std::vector<core::ReportTarget>& targets,
                   const std::function<core::Outcome(Session&)>& work);

}  // namespace tmeter::app
