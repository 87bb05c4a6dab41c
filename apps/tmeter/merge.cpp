// `tmeter merge [options] REPORT.json|FOLDER...`: one report from those of shards, or an index of
// models.
#include <algorithm>
#include <filesystem>
#include <tmeter/cpp/natural_order.hpp>

#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/metric_names.hpp"
#include "apps/tmeter/model_report.hpp"
#include "apps/tmeter/session.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/merging/merging.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

/// The files "*.json" of a folder, except the ones that this run's reports will replace.
void add_reports_in(const std::string& folder, const std::vector<ReportTarget>& targets,
                    std::vector<std::string>& out) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path().extension() != ".json") continue;
    const bool own = std::any_of(targets.begin(), targets.end(), [&](const ReportTarget& t) {
      std::error_code ignored;
      return !t.file.empty() && fs::equivalent(t.file, it->path(), ignored);
    });
    if (!own) found.push_back(it->path().string());
  }
  if (failed) throw Error(ErrorKind::kModel, printable(folder) + ": " + failed.message());
  if (found.empty())
    throw Error(ErrorKind::kModel, printable(folder) + ": there is no .json file in this folder");
  std::sort(found.begin(), found.end(), natural_less);
  out.insert(out.end(), found.begin(), found.end());
}

std::vector<std::string> expanded(const CommandLine& line) {
  std::vector<ReportTarget> targets;
  for (const auto& r : line.settings.reports) targets.push_back(parse_report_target(r));
  std::vector<std::string> files;
  for (const auto& name : line.parts) {
    std::error_code failed;
    if (fs::is_directory(name, failed))
      add_reports_in(name, targets, files);
    else
      files.push_back(name);
  }
  return files;
}

SavedReport merged_index(const std::vector<std::string>& files) {
  ModelIndex index;
  for (const auto& file : files) index.add({file, open_report(file)});
  return index.finish();
}

SavedReport merged_shards(const std::vector<std::string>& files) {
  std::vector<Part> parts;
  for (const auto& file : files) parts.push_back({file, open_report(file)});
  return merge_shards(std::move(parts));
}

/// Runs in the worker.
Outcome merge(Session& session, const std::vector<std::string>& files,
              const std::vector<ReportTarget>& targets) {
  const auto& line = session.line();
  session.begin(targets, files, session.registry().given_files());
  auto merged = line.index ? merged_index(files) : merged_shards(files);
  session.take_snapshot();
  auto& report = merged.report;
  require_metrics_of_report(session, report.results);
  report.view = line.view;
  report.properties["command"] = line.command;
  for (const auto& a : session.assertions())
    report.assertions.push_back(evaluate(a, *merged.graph, report.results));
  session.note_failures({});
  session.write(report);
  require_all(report.assertions);
  return session.outcome();
}

}  // namespace

int merge_command(const Arguments& arguments) {
  const auto line = parse_command_line(arguments, Command::kMerge);
  if (line.help) return Terminal::output(help_text()), 0;
  const auto files = expanded(line);
  const auto targets = report_targets(line, files);
  return run_supervised(line, targets,
                        [&](Session& session) { return merge(session, files, targets); });
}

}  // namespace tmeter::app
