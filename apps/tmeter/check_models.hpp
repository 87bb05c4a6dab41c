// The part of `tmeter plugin check` about models that the user gives: read by the plugin's loader
// where it has one for them, analysed, run, and written.
#pragma once
#include <optional>
#include <string>

#include "apps/tmeter/check_lines.hpp"
#include "core/base/host_sink.hpp"
#include "core/config/hardware.hpp"
#include "core/execution/model_runs.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/report/report.hpp"

namespace tmeter::app {

/// Counts the bytes of a writer and drops them.
class CountedReport final : public core::HostSink {
 public:
  explicit CountedReport(core::HostSink& messages) : messages_(messages) {}
  void message(std::string_view line) override { messages_.message(line); }
  void progress(uint64_t, uint64_t, std::string_view) override {}
  void progress_ended() override {}
  void runs_file(std::string_view) override {}
  void runs_model(std::string_view) override {}
  void report(size_t, std::string_view bytes) override { bytes_ += bytes.size(); }
  void report_whole(size_t) override {}
  size_t bytes() const { return bytes_; }

 private:
  core::HostSink& messages_;
  size_t bytes_ = 0;
};

/// The shared state of the checks.
struct CheckedPlugin {
  core::Registry& registry;
  core::Plugin& plugin;
  core::CallLog& log;
  const core::HardwareSource& hardware;
  core::HostSink& sink;
  CheckLines& lines;
};

/// Adds an executor or an observer, whichever the plugin lacks (trial_runs.hpp), and disables other
/// executors.
void complete_for_runs(const CheckedPlugin& checked);

/// Reads the file, by the plugin's loader if that takes it, and runs all of the plugin's callbacks
/// on the model.
void try_model(const CheckedPlugin& checked, const std::string& path);

/// Metrics, analyses, module handlers, executors and observers, on a graph; `model` names it.
/// Reports a failure and returns nothing.
std::optional<core::Results> try_run(const CheckedPlugin& checked, const core::Graph& graph,
                                     const core::TensorBytes& tensors, const std::string& model);

/// Runs a report writer on a report.
void try_writer(const CheckedPlugin& checked, const core::Report& report, const std::string& name);

}  // namespace tmeter::app
