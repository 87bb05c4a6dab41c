// `tmeter [options] MODEL`: file → graph → metrics → report.
#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/measured_hardware.hpp"
#include "apps/tmeter/model_report.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "core/analysis/assertion.hpp"
#include "core/base/version.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// The input of the worker.
std::vector<std::string> files_of(const CommandLine& line) {
  std::vector<std::string> files{line.model};
  for (const auto& [name, path] : line.runs.inputs) files.push_back(path);
  files.insert(files.end(), line.runs.libraries.begin(), line.runs.libraries.end());
  return files;
}

/// Everything between the command line and the reports. Runs in the worker.
Outcome analyse(Session& session, const std::vector<ReportTarget>& targets,
                Session::Clock::time_point start) {
  const auto& line = session.line();
  const auto names = chosen_plugins(session.registry(), line.settings.plugins, line.running);
  session.begin(targets, files_of(line), names);
  // Never destroyed: the worker ends at once; destroying a million operators would take longer.
  auto& analysed = *new SavedReport(report_of_model(session, line.model, names, start));
  for (const auto& a : session.assertions())
    analysed.report.assertions.push_back(evaluate(a, *analysed.graph, analysed.report.results));
  session.write(analysed.report);
  require_all(analysed.report.assertions);
  return session.outcome();
}

}  // namespace

int analyse_command(const Arguments& arguments) {
  auto start = Session::Clock::now();
  auto line = parse_command_line(arguments);
  if (line.help) return Terminal::output(help_text()), 0;
  if (line.version) return Terminal::output("tmeter " TMETER_VERSION "\n"), 0;
  const auto targets = report_targets(line, {line.model});
  const auto before = Session::Clock::now();
  measure_if_auto(line.settings, line.verbosity < 0);
  start += Session::Clock::now() - before;  // not a part of the analysis
  return run_supervised(line, targets,
                        [&](Session& session) { return analyse(session, targets, start); });
}

}  // namespace tmeter::app
