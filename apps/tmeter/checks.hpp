// The checks of `tmeter plugin check`: of callbacks on operators, and of runs on models.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/tmeter/operator_call.hpp"
#include "core/base/host_sink.hpp"
#include "core/config/hardware.hpp"
#include "core/execution/model_runs.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/report/report.hpp"

namespace tmeter::app {

// The output of `tmeter plugin check`, line by line.

class CheckLines {
 public:
  void add_line(const std::string& line) { text_ += line + "\n"; }
  void fine(const std::string& line) { ++tried_, add_line("  ok    " + line); }
  void bad(const std::string& line) { ++tried_, ++bad_, add_line("  BAD   " + line); }
  void note(const std::string& line) { add_line("  note  " + line); }

  int bad() const { return bad_; }
  /// All lines, and a summary.
  std::string text() const {
    const auto tried = std::to_string(tried_) + " checks";
    return text_ +
           (bad_ ? "NOT FINE: " + std::to_string(bad_) + " of " + tried : "fine: " + tried) + "\n";
  }

 private:
  std::string text_;
  int tried_ = 0, bad_ = 0;
};

// The part of `tmeter plugin check` about operators: shape rules, handlers, classes of work; on
// arguments of 4 × 4 and on calls that the user gives.

class OperatorCheck {
 public:
  OperatorCheck(core::Registry& registry, core::Plugin& plugin, core::CallLog& log,
                const core::HardwareSource& hardware, CheckLines& lines);

  /// Every operator that the plugin supports.
  void try_all();
  void try_call(const OperatorCall& call);

 private:
  /// The operator's place in a graph. A handler by signature must not depend on it.
  struct Place {
    const char* module;
    int before;  // operators of the graph before it
  };
  struct Trial;
  using MetricValues = std::map<std::string, std::string>;  // by metric

  void try_one(const OperatorCall& call, bool by_user);
  void try_class(const tmeter_op_class& c);
  const tmeter_shape_rule* rule_of(const std::string& op) const;
  bool handles(const std::string& op) const;
  bool has_signature_handlers(const std::string& op) const;
  OperatorCall usual_call(const std::string& op) const;
  Trial make(const OperatorCall& call, const Place& place);
  std::vector<uint32_t> infer(const tmeter_shape_rule& rule, const OperatorCall& call,
                              tmeter_builder& builder, const std::vector<uint32_t>& arguments);
  MetricValues values_of(const Trial& trial);
  void report_values(const OperatorCall& call, const std::string& name);

  core::Registry& registry_;
  core::Plugin& plugin_;
  core::CallLog& log_;
  const core::HardwareSource& hardware_;
  CheckLines& lines_;
  std::vector<core::Plugin*> plugins_;  // the plugin, and the owners of its handlers' metrics
};

// The part of `tmeter plugin check` about models that the user gives: read by the plugin's loader
// if it has one for them, analysed, run, and written.

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

/// Adds an executor or an observer, whichever the plugin lacks (check_models.cpp), and disables
/// other executors.
void complete_for_runs(const CheckedPlugin& checked);

/// Reads the file, by the plugin's loader if it accepts it, and runs all of the plugin's callbacks
/// on the model.
void try_model(const CheckedPlugin& checked, const std::string& path);

/// Metrics, analyses, module handlers, executors and observers, on a graph; `model` names it.
/// Reports a failure and returns nothing.
std::optional<core::Results> try_run(const CheckedPlugin& checked, const core::Graph& graph,
                                     const core::TensorBytes& tensors, const std::string& model);

/// Runs a report writer on a report.
void try_writer(const CheckedPlugin& checked, const core::Report& report, const std::string& name);

}  // namespace tmeter::app
