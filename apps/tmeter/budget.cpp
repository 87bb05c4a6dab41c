// `tmeter budget [--update] [--why] [MODEL...]`: the bounds that a repository keeps for its models.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/input_spec.hpp"
#include "apps/tmeter/measured_hardware.hpp"
#include "apps/tmeter/model_report.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/comparison/comparison.hpp"
#include "core/config/budgets.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

// The formats: text, github, markdown.

// Names of report files.
constexpr std::string_view kText = "text", kGithub = "github", kMarkdown = "markdown";

/// The result of one bound. `bound` is empty for a budget that could not be checked.
struct BudgetRow {
  enum State { kHolds, kBroken, kUnchecked } state = kHolds;
  std::string model, bound, words, why;
  size_t line = 0;  // of the budget's table
};

/// `text` with each character of `special` replaced by its `escape`.
std::string replaced(std::string_view text, std::string_view special, std::string (*escape)(char)) {
  std::string out;
  for (const char c : text) out += special.find(c) != special.npos ? escape(c) : std::string(1, c);
  return out;
}

std::string percent_encoded(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string character_reference(char c) { return "&#" + std::to_string(int{c}) + ";"; }

std::string as_text(const std::vector<BudgetRow>& rows) {
  constexpr std::string_view kMarks[] = {"ok    ", "FAIL  ", "ERROR "};
  std::string out;
  for (const auto& r : rows) {
    out += std::string(kMarks[r.state]) + r.model + "  " +
           (r.bound.empty() ? r.words : r.bound + "  (" + r.words + ")") + "\n";
    if (!r.why.empty()) out += "        " + r.why + "\n";
  }
  return out;
}

/// Annotations of a GitHub workflow at the budget's line, for broken and unchecked bounds.
std::string as_github(const std::vector<BudgetRow>& rows, std::string_view file) {
  std::string out;
  const auto data = [](std::string_view text) { return replaced(text, "%\n\r", percent_encoded); };
  const auto property = [](std::string_view text) {
    return replaced(text, "%\n\r:,", percent_encoded);
  };
  for (const auto& r : rows) {
    if (r.state == BudgetRow::kHolds) continue;
    out += "::error file=" + property(file) + ",line=" + std::to_string(r.line) +
           ",title=" + property(r.model) + "::" +
           data((r.bound.empty() ? "" : r.bound + ": ") + r.words +
                (r.why.empty() ? "" : "; " + r.why)) +
           "\n";
  }
  return out;
}

/// A table for a step's summary or a comment.
std::string as_markdown(const std::vector<BudgetRow>& rows) {
  constexpr std::string_view kMarks[] = {"✅", "❌", "⚠️"};
  const auto cell = [](std::string_view text) {
    return replaced(text, "|`<>[]*_@#&", character_reference);
  };
  std::string out = "| | model | bound | |\n|---|---|---|---|\n";
  for (const auto& r : rows)
    out += "| " + std::string(kMarks[r.state]) + " | " + cell(r.model) + " | " + cell(r.bound) +
           " | " + cell(r.words + (r.why.empty() ? "" : "; " + r.why)) + " |\n";
  return out;
}

/// `file` holds the budgets.
std::string in_format(std::string_view format, const std::vector<BudgetRow>& rows,
                      std::string_view file) {
  if (format == kGithub) return as_github(rows, file);
  return format == kMarkdown ? as_markdown(rows) : as_text(rows);
}

constexpr size_t kMaxListedModules = 5;
constexpr char kDefaultFile[] = "tmeter.toml";

/// A budget with its paths relative to the working directory.
struct BudgetCheck {
  Budget budget;
  std::string model, report;
  std::vector<std::string> assertions;  // like those that --update writes
};

std::string path_beside(const std::string& file, const std::string& path) {
  return path.empty() ? path : (fs::path(file).parent_path() / path).string();
}

/// The budgets of these models, or all.
std::vector<BudgetCheck> checks_of(const BudgetFile& file, const CommandLine& line) {
  std::vector<BudgetCheck> out;
  std::vector<std::string> models;
  for (const auto& b : file.budgets) {
    models.push_back(b.model);
    BudgetCheck c{b, path_beside(line.config, b.model), path_beside(line.config, b.report),
                  b.assertions};
    out.push_back(std::move(c));
  }
  for (const auto& part : line.parts)
    if (std::find(models.begin(), models.end(), part) == models.end())
      throw Error(ErrorKind::kUsage, printable(line.config) + " has no budget of '" +
                                         printable(part) + "'" + did_you_mean(part, models));
  return out;
}

bool is_requested(const BudgetCheck& c, const CommandLine& line) {
  return line.parts.empty() ||
         std::find(line.parts.begin(), line.parts.end(), c.budget.model) != line.parts.end();
}

/// "macs <= 5 G" with a number that permits `value`: four digits, rounded away from it.
/// "fits" has no number.
std::string moved_bound(const AssertionResult& r, double slack) {
  const auto& a = r.assertion;
  if (a.alone) return a.text;
  const auto begin = a.text.find(a.op, a.metric.size()) + a.op.size();
  const auto digits = a.text.find_first_not_of(' ', begin);
  const auto unit = a.text.find_first_not_of("+-.0123456789eE", digits);
  const double written = std::strtod(a.text.c_str() + digits, nullptr);
  const bool upper = a.op.front() == '<', lower = a.op.front() == '>';
  if (!is_known(r.value)) return a.text;
  const bool exact = a.op == "==" && !is_of_operators(a) && r.value.kind == TMETER_NUMBER_INT;
  if (exact) return a.text.substr(0, digits) + std::to_string(r.value.i);
  if (!upper && !lower) return a.text;
  const double in_unit = written == 0 ? real(r.value) : real(r.value) / (real(a.limit) / written);
  const double with_slack = in_unit + std::fabs(in_unit) * (upper ? slack : -slack);
  if (with_slack == 0) return a.text;
  const double step = std::pow(10, std::floor(std::log10(std::fabs(with_slack))) - 3);
  const double bound =
      (upper ? std::ceil(with_slack / step) : std::floor(with_slack / step)) * step;
  const auto tail = unit == a.text.npos || written == 0 ? std::string() : a.text.substr(unit);
  const auto op = a.op.size() == 1 ? a.op + "=" : a.op;  // the bound must permit the value itself
  return a.text.substr(0, begin - a.op.size()) + op + a.text.substr(begin, digits - begin) +
         short_number(bound) + tail;
}

/// "2.362 M": the value in the unit of the bound, unless that is a share.
std::string in_unit_of(AssertionResult bound, double value) {
  auto& a = bound.assertion;
  a.change = a.relative = false;
  if (a.unit == kShare) a.unit = kDimensionless, a.unit_name = {};
  bound.value = number(value);
  return shown_value(bound);
}

/// Leaf modules sorted by the change of a metric, or by its value without a comparison.
std::string largest_contributors(const Report& after, const AssertionResult& bound) {
  const size_t column = bound.metric;
  const Report* before = after.comparison.before;
  struct Row {
    std::string path;
    double value = 0;
  };
  std::vector<Row> rows;
  const auto value = [&](const Report& report, size_t module) {
    const auto found = report.results.find(after.results.columns[column].id);
    if (module == SIZE_MAX || !found) return 0.0;
    const auto v = found->cell(TMETER_AXIS_MODULE, module);
    return is_known(v) ? real(v) : 0.0;
  };
  const auto leaf = [](const Report& report, size_t module) {
    return module == SIZE_MAX || report.graph->modules()[module]->children.empty();
  };
  if (before) {
    for (const auto& p : after.comparison.pairs) {
      if (!leaf(*before, p.before) || !leaf(after, p.after)) continue;
      const auto& there = p.after == SIZE_MAX ? *before : after;
      const auto module = p.after == SIZE_MAX ? p.before : p.after;
      rows.push_back({std::string(there.graph->modules()[module]->path),
                      value(after, p.after) - value(*before, p.before)});
    }
  } else {
    for (size_t m = 0; m < after.graph->modules().size(); ++m)
      if (leaf(after, m))
        rows.push_back({std::string(after.graph->modules()[m]->path), value(after, m)});
  }
  std::erase_if(rows, [](const Row& r) { return r.value == 0; });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::fabs(a.value) > std::fabs(b.value);
  });
  if (rows.size() > kMaxListedModules) rows.resize(kMaxListedModules);
  std::string out;
  for (const auto& r : rows)
    out += (out.empty() ? "" : ", ") + printable(r.path.empty() ? "the root" : r.path) +
           (before && r.value > 0 ? " +" : " ") + in_unit_of(bound, r.value);
  if (out.empty()) return before ? "no module moved" : "no module has a value";
  return (before ? "moved most: " : "largest: ") + out;
}

std::vector<BudgetRow> rows_of(const BudgetCheck& c, const Report& after, bool why) {
  std::vector<BudgetRow> rows;
  for (const auto& r : after.assertions) {
    BudgetRow row{r.holds ? BudgetRow::kHolds : BudgetRow::kBroken,
                  printable(c.budget.model),
                  printable(r.assertion.text),
                  printable(r.subject) + " is " + shown_value(r),
                  "",
                  c.budget.line};
    if (why && !r.holds && r.metric != SIZE_MAX) row.why = largest_contributors(after, r);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The analysis of one model with its budget's inputs; `line` is the session's command line.
SavedReport analysed(Session& session, CommandLine& line, const BudgetCheck& c,
                     const std::vector<std::string>& plugins) {
  line.model = c.model;
  line.assertions = c.budget.assertions;
  line.inputs.clear();
  for (const auto& text : c.budget.inputs)
    for (auto& request : parse_input_spec(text)) line.inputs.push_back(std::move(request));
  line.bindings.clear();
  for (const auto& text : c.budget.bindings) line.bindings.push_back(parse_binding(text));
  return report_of_model(session, c.model, plugins, Session::Clock::now());
}

struct BudgetResults {
  std::vector<BudgetRow> rows;
  std::string updated;  // messages of --update
  int status = 0;       // status of the first budget whose model or bounds cannot be read

  size_t count(BudgetRow::State state) const {
    return static_cast<size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const auto& r) { return r.state == state; }));
  }
};

void check_budget(Session& session, CommandLine& line, BudgetCheck& c, size_t target,
                  const std::vector<std::string>& plugins, BudgetResults& results) {
  auto after = analysed(session, line, c, plugins);
  std::optional<SavedReport> before;
  if (!line.update && !c.report.empty() && access(c.report.c_str(), F_OK) == 0) {
    before = open_report(c.report);
    after.report.comparison = compare(before->report, after.report);
  }
  for (const auto& text : c.budget.assertions) {
    const auto a = parse_assertion(text);
    if (a.change && !before)
      throw Error(
          ErrorKind::kUsage,
          c.budget.place + ": '" + printable(text) +
              "' compares with a report: `report = \"FILE\"`, written by `tmeter budget --update`");
    after.report.assertions.push_back(evaluate_change(a, after.report));
  }
  if (!line.update) {
    auto rows = rows_of(c, after.report, line.why);
    std::move(rows.begin(), rows.end(), std::back_inserter(results.rows));
    return;
  }
  for (size_t i = 0; i < c.assertions.size(); ++i) {
    const auto& r = after.report.assertions[i];
    c.assertions[i] = moved_bound(r, c.budget.slack);
    results.updated += printable(c.budget.model) + "  " + printable(r.assertion.text) + " → " +
                       printable(c.assertions[i]) + "\n";
  }
  after.report.assertions.clear();
  if (!c.report.empty()) session.write(after.report, {"json", c.report}, target);
}

Outcome outcome_of(const BudgetResults& results, Outcome outcome, bool why) {
  const auto broken = results.count(BudgetRow::kBroken),
             unchecked = results.count(BudgetRow::kUnchecked);
  if (unchecked > 0)
    return {results.status,
            std::to_string(unchecked) + (unchecked == 1 ? " budget" : " budgets") +
                " cannot be checked, " + std::to_string(broken) + " bounds do not hold",
            true,
            {}};
  if (broken > 0 && outcome.status == 0)
    return {static_cast<int>(ErrorKind::kAssertion),
            std::to_string(broken) + " of " + std::to_string(results.rows.size()) +
                " bounds do not hold" + (why ? "" : "; `tmeter budget --why` names modules"),
            true,
            {}};
  return outcome;
}

/// Targets of a run: the reports on the budgets or, with --update, its messages and the file; then
/// the saved reports of --update.
struct BudgetTargets {
  std::vector<ReportTarget> all;
  size_t reports = 0;  // on the budgets
};

Outcome check_budgets(Session& session, CommandLine& line, const BudgetFile& file,
                      std::vector<BudgetCheck> checks, const BudgetTargets& targets) {
  const auto plugins = chosen_plugins(session.registry(), line.settings.plugins, line.running);
  std::vector<std::string> files;
  for (const auto& c : checks) {
    files.push_back(c.model);
    if (!c.report.empty()) files.push_back(c.report);
  }
  const auto first_saved = static_cast<ptrdiff_t>(line.update ? 2 : targets.reports);
  session.begin({targets.all.begin() + first_saved, targets.all.end()}, files, plugins);
  BudgetResults results;
  auto target = static_cast<size_t>(first_saved);
  for (auto& c : checks) {
    if (!is_requested(c, line)) continue;
    try {
      check_budget(session, line, c, target, plugins, results);
    } catch (const PluginError&) {
      throw;
    } catch (const Error& e) {
      const bool of_this_one = e.kind() == ErrorKind::kUsage || e.kind() == ErrorKind::kModel;
      if (!of_this_one || line.update) throw;
      if (results.status == 0) results.status = e.exit_status();
      results.rows.push_back({BudgetRow::kUnchecked, printable(c.budget.model), "",
                              "(" + c.budget.place + ") " + e.what(), "", c.budget.line});
    }
    target += !c.report.empty();
  }
  session.note_failures({});
  if (line.update) {
    std::vector<std::vector<std::string>> lists;
    for (const auto& c : checks) lists.push_back(c.assertions);
    session.write_text(0, results.updated);
    session.write_text(1, with_assertions(file, lists));
    return session.outcome();
  }
  const bool silent = line.verbosity < 0 && results.count(BudgetRow::kHolds) == results.rows.size();
  for (size_t i = 0; i < targets.reports; ++i) {
    const auto& t = targets.all[i];
    session.write_text(
        i, silent && t.file.empty() ? "" : in_format(t.format, results.rows, line.config));
  }
  return outcome_of(results, session.outcome(), line.why);
}

BudgetTargets targets_of(const CommandLine& line, const std::vector<BudgetCheck>& checks) {
  BudgetTargets out;
  if (line.update) {
    if (!line.settings.reports.empty())
      throw Error(ErrorKind::kUsage,
                  "--update writes " + line.config + "; --report goes without it");
    out.all = {{"text", ""}, {"", line.config}};
    for (const auto& c : checks)
      if (is_requested(c, line) && !c.report.empty()) {
        out.all.push_back({"json", c.report});
      }
    for (const auto& c : checks) require_own_files(out.all, c.model);
    return out;
  }
  std::vector<std::string> files{line.config};
  for (const auto& c : checks) files.insert(files.end(), {c.model, c.report});
  std::erase(files, "");
  out.all = report_targets(line, files);
  for (auto& t : out.all) {
    if (t.format.empty()) t.format = t.file.ends_with(".md") ? kMarkdown : kText;
    if (t.format != kText && t.format != kGithub && t.format != kMarkdown)
      throw Error(ErrorKind::kUsage, "no format '" + printable(t.format) +
                                         "' for budgets; known: text, github, markdown");
  }
  out.reports = out.all.size();
  return out;
}

/// Makes the folders of saved reports, which do not exist before the first --update.
/// New folders that remain empty are removed. A folder that cannot be made is reported
/// by the attempt to write into it.
class ReportFolders {
 public:
  explicit ReportFolders(const std::vector<ReportTarget>& targets) {
    for (const auto& t : targets) make(std::filesystem::path(t.file).parent_path());
  }
  ~ReportFolders() {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) rmdir(it->c_str());
  }
  ReportFolders(const ReportFolders&) = delete;
  ReportFolders& operator=(const ReportFolders&) = delete;

 private:
  void make(const std::filesystem::path& folder) {
    if (folder.empty() || access(folder.c_str(), F_OK) == 0) return;
    make(folder.parent_path());
    std::error_code failed;
    if (std::filesystem::create_directory(folder, failed)) made_.push_back(folder);
  }
  std::vector<std::filesystem::path> made_;
};

}  // namespace

int budget_command(const Arguments& arguments) {
  auto line = parse_command_line(arguments, Command::kBudget);
  if (line.help) return Terminal::output(help_text()), 0;
  for (const auto& model : line.parts)
    if (model.ends_with(".toml"))
      throw Error(ErrorKind::kUsage, "budgets of another file: --config " + printable(model) +
                                         "; the arguments of `tmeter budget` are models");
  if (line.config.empty()) {
    if (access(kDefaultFile, F_OK) != 0)
      throw Error(ErrorKind::kUsage,
                  "there is no tmeter.toml here; `tmeter budget --config FILE` reads another one");
    auto with_file = arguments;
    with_file.push_back("--config=" + std::string(kDefaultFile));
    line = parse_command_line(with_file, Command::kBudget);
  }
  line.model = line.config;
  const auto file = read_budgets(line.config);
  const auto checks = checks_of(file, line);
  const auto targets = targets_of(line, checks);
  measure_if_auto(line.settings, line.verbosity < 0);
  const ReportFolders folders(line.update ? targets.all : std::vector<ReportTarget>{});
  return run_supervised(line, targets.all, [&](Session& session) {
    return check_budgets(session, line, file, checks, targets);
  });
}

}  // namespace tmeter::app
