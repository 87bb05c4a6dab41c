// `tmeter show [options] REPORT.json`: a saved report in any format, without the model.
#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/metric_names.hpp"
#include "apps/tmeter/model_report.hpp"
#include "apps/tmeter/session.hpp"
#include "core/analysis/assertion.hpp"
#include "core/process/terminal.hpp"
#include "core/report/part_report.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Adds the user's assertions after those of the report. One that the report has is evaluated
/// again.
std::vector<AssertionResult> check(const std::vector<Assertion>& requested,
                                   const SavedReport& saved, std::vector<AssertionResult>& all) {
  std::vector<AssertionResult> results;
  for (const auto& a : requested) {
    results.push_back(evaluate(a, *saved.graph, saved.report.results));
    std::erase_if(all, [&](const auto& result) { return result.assertion.text == a.text; });
    all.push_back(results.back());
  }
  return results;
}

/// Runs in the worker.
Outcome show(Session& session, const std::vector<ReportTarget>& targets) {
  const auto& line = session.line();
  session.begin(targets, {line.model}, session.registry().given_files());
  auto saved = open_report(line.model);
  session.take_snapshot();
  require_metrics_of_report(session, saved.report.results);
  saved.report.view = line.view;
  if (!line.root.empty()) {
    auto part = part_of(*saved.graph, find_module(*saved.graph, line.root));
    restrict_to_part(saved.report, part);
    saved.graph = std::move(part.graph);
  }
  const auto results = check(session.assertions(), saved, saved.report.assertions);
  session.note_failures({});
  session.write(saved.report);
  require_all(results);
  return session.outcome();
}

}  // namespace

int show_command(const Arguments& arguments) {
  const auto line = parse_command_line(arguments, Command::kShow);
  if (line.help) return Terminal::output(help_text()), 0;
  const auto targets = report_targets(line, {line.model});
  return run_supervised(line, targets, [&](Session& session) { return show(session, targets); });
}

}  // namespace tmeter::app
