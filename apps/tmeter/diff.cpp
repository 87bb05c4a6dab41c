// `tmeter diff [options] BEFORE AFTER`: two models or saved reports compared.
#include <algorithm>
#include <filesystem>

#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/measured_hardware.hpp"
#include "apps/tmeter/metric_names.hpp"
#include "apps/tmeter/model_report.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "apps/tmeter/weight_errors.hpp"
#include "core/analysis/weight_changes.hpp"
#include "core/base/error.hpp"
#include "core/base/mapped_file.hpp"
#include "core/base/text.hpp"
#include "core/comparison/comparison.hpp"
#include "core/plugin_host/decoders.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Writers of comparisons are called "diff-text", and write files of "diff.txt".
constexpr std::string_view kFormat = "diff-", kExtension = "diff.";

/// "html" → "diff-html"; only a file: the writer of its extension.
void choose_diff_writers(const Registry& registry, std::vector<ReportTarget>& targets) {
  std::vector<std::string> formats;
  for (auto& t : targets) {
    const auto dot = t.file.rfind('.');
    const auto extension = dot == t.file.npos ? std::string() : t.file.substr(dot + 1);
    std::string format;
    formats.clear();
    for (const auto& p : registry.plugins()) {
      for (const auto& w : p->manifest.writers) {
        if (!w.name.starts_with(kFormat)) continue;
        formats.push_back(w.name.substr(kFormat.size()));
        const bool meant = t.format.empty() ? w.extension == std::string(kExtension) + extension
                                            : formats.back() == t.format || w.name == t.format;
        if (meant) format = w.name;
      }
    }
    if (format.empty()) {
      const auto requested = t.format.empty() ? extension : t.format;
      throw Error(ErrorKind::kUsage, "no format '" + printable(requested) + "' for comparisons" +
                                         did_you_mean(requested, formats) +
                                         "; known: " + joined(formats));
    }
    t.format = format;
  }
}

bool is_saved(const std::string& path) {
  return !std::filesystem::is_directory(path) && is_saved_report(MappedFile(path).bytes());
}

using Source = std::shared_ptr<const tmeter_source>;

SavedReport report_of(Session& session, const std::string& path,
                      const std::vector<std::string>& plugins, Source& source) {
  const auto start = Session::Clock::now();
  if (!is_saved(path)) return report_of_model(session, path, plugins, start, &source);
  auto saved = open_report(path);
  session.take_snapshot();
  return saved;
}

/// Notes the outcome for the weights, including an unknown one.
void compare_values(Session& session, const Source& before, const Source& after, Report& report) {
  auto& notes = report.comparison.notes;
  const auto pairs = tensor_pairs(report);
  // For programs, the modules that differ show it.
  const auto &of_before = *report.comparison.before->graph, &of_after = *report.graph;
  if (of_before.property("content") == "weights" && of_after.property("content") == "weights")
    for (auto& line : describe_unpaired(of_before, of_after, pairs))
      notes.push_back(std::move(line));
  if (pairs.empty()) return;
  if (!before || !after) {
    notes.push_back("weights: values are not compared: a saved report has none");
    return;
  }
  Decoders decoders_before(session.registry(), of_before, session.log());
  Decoders decoders_after(session.registry(), of_after, session.log());
  const TensorBytes bytes_before(before->file, &decoders_before),
      bytes_after(after->file, &decoders_after);
  const auto changes = compare_weights(pairs, {of_before, bytes_before}, {of_after, bytes_after});
  std::vector<const Tensor*> changed;
  for (const auto& c : changes.changed) changed.push_back(c.after);
  mark_changed(report, changed);
  for (auto& line : describe(changes)) notes.push_back(std::move(line));
}

/// Runs in the worker.
Outcome diff(Session& session, std::vector<ReportTarget> targets) {
  const auto& line = session.line();
  const auto plugins = chosen_plugins(session.registry(), line.settings.plugins, line.running);
  choose_diff_writers(session.registry(), targets);
  session.begin(targets, {line.other, line.model}, plugins);
  if (is_saved(line.other) && is_saved(line.model)) refuse_model_options(line);

  Source source_before, source_after;
  auto before = report_of(session, line.other, plugins, source_before);
  auto after = report_of(session, line.model, plugins, source_after);
  after.report.view = line.view;
  after.report.comparison = compare(before.report, after.report);
  compare_values(session, source_before, source_after, after.report);
  if (requests_weight_errors(line) && !is_saved(line.other) && !is_saved(line.model))
    add_weight_errors(session, before.report, after.report);
  require_metrics_of_report(session, after.report.results);
  after.report.assertions.clear();
  for (const auto& a : session.assertions())
    after.report.assertions.push_back(evaluate_change(a, after.report));
  session.note_failures({});
  session.write(after.report);
  require_all(after.report.assertions);
  return session.outcome();
}

}  // namespace

int diff_command(const Arguments& arguments) {
  auto line = parse_command_line(arguments, Command::kDiff);
  if (line.help) return Terminal::output(help_text()), 0;
  const auto targets = report_targets(line, {line.other, line.model});
  measure_if_auto(line.settings, line.verbosity < 0);
  return run_supervised(line, targets, [&](Session& session) { return diff(session, targets); });
}

}  // namespace tmeter::app
