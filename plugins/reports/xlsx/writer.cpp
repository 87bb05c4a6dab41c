#include "writer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "../common/rows.hpp"
#include "sheet.hpp"

namespace xlsx_report {
namespace {

using tmeter::Metric;
using tmeter::Report;

void totals(Workbook& book, const Report& report, const std::vector<Metric>& metrics) {
  book.table("Model", {"metric", "value", "unit", "status", "title", "counts", "by"});
  for (const auto& m : metrics) {
    const auto total = report.total(m);
    const auto status = reports::status_of(total, m);
    book.text(m.id());
    book.cell(total);
    book.text(m.unit());
    book.text(status.value_or(""));
    book.text(m.title());
    book.text(m.convention());
    book.text(m.plugin());
    book.end_row();
  }
}

/// The cells of a row, and at its end the statuses of cells: "macs: lower_bound".
void values(Workbook& book, const std::vector<Metric>& metrics, const reports::Row& row) {
  std::string notes;
  for (size_t i = 0; i < metrics.size(); ++i) {
    book.cell(row.cells[i]);
    if (const auto status = reports::status_of(row.cells[i], metrics[i]))
      notes.append(notes.empty() ? "" : "; ").append(metrics[i].id()).append(": ").append(*status);
  }
  book.text(notes);
}

struct TableOf {
  const char *sheet, *by, *depth;
};
constexpr std::array kTables{
    TableOf{"Modules", "module", "all"}, TableOf{"Types", "type", "1"},
    TableOf{"Families", "family", "1"},  TableOf{"Operators", "operator", "1"},
    TableOf{"Calls", "operator", "2"},   TableOf{"Tensors", "tensor", "1"}};

/// Words that are numbers, such as "calls", are numbers in a sheet, too.
bool is_count(std::string_view word) {
  return !word.empty() && word.size() < 16 && word.find_first_not_of("0123456789") == word.npos;
}
bool holds_counts(std::string_view title) {
  constexpr std::array<std::string_view, 5> kCounts{"calls", "modules", "layers", "elements",
                                                    "index"};
  return std::find(kCounts.begin(), kCounts.end(), title) != kCounts.end();
}

void table(Workbook& book, const Report& report, const std::vector<Metric>& metrics,
           const char* sheet, const reports::RowOptions& options) {
  const auto words = reports::row_titles(report, options);
  auto titles = words;
  for (const auto& m : metrics) titles.emplace_back(m.id());
  titles.emplace_back("notes");
  book.table(sheet, titles);
  reports::for_each_row(report, metrics, options, [&](const reports::Row& row) {
    for (size_t i = 0; i < row.words.size(); ++i) {
      if (holds_counts(words[i]) && is_count(row.words[i]))
        book.whole(std::stoll(row.words[i]));
      else
        book.text(row.words[i]);
    }
    values(book, metrics, row);
    book.end_row();
  });
}

void findings(Workbook& book, const Report& report) {
  book.table("Findings",
             {"severity", "rule", "text", "evidence", "action", "change", "about", "by"});
  const auto graph = report.graph();
  for (const auto& f : report.findings()) {
    std::string changes, targets;
    for (const auto& c : f.changes())
      changes += (changes.empty() ? "" : "; ") + reports::describe_change(report, c);
    for (const auto& t : f.targets()) {
      if (targets.size() > kMaxText) break;
      targets += (targets.empty() ? "" : ", ") + reports::describe_target(graph, t);
    }
    for (const auto text :
         {tmeter::vocabulary::kSeverities.word(f.severity()), f.rule(), f.text(), f.evidence(),
          f.action(), std::string_view(changes), std::string_view(targets), f.plugin()})
      book.text(text);
    book.end_row();
  }
}

void about(Workbook& book, const Report& report) {
  book.table("About", {"what", "is"});
  const auto put = [&](std::string_view what, std::string_view text) {
    if (text.empty()) return;
    book.text(what);
    book.text(text);
    book.end_row();
  };
  put("model", reports::model_name(report));
  put("file", report.property("model.file"));
  put("format", reports::format_of(report));
  put("part", report.graph().property("part"));
  put("sizes", report.property("sizes"));
  for (size_t i = 0; i < report.graph().inputs().size(); ++i)
    put("input", reports::describe_input(report.graph(), i));
  put("operators", reports::describe_coverage(report));
  put("unknown", reports::describe_unknown(report));
  for (const auto& a : report.assertions())
    put(a.holds() ? "holds" : "does not hold",
        std::string(a.expression()) + " (" + reports::describe_value(report, a) + ")");
  for (const auto& warning : report.warnings()) put("warning", warning);
  for (const auto& [key, value] : report.config()) put(key, value);
  put("command", report.property("command"));
  put("tmeter", report.property("tool.version"));
}

}  // namespace

void write(const Report& report, tmeter::Output& out) {
  Workbook book(out);
  const auto metrics = reports::chosen_metrics(report, [](const Metric&) { return true; });
  totals(book, report, metrics);
  if (report.sweep().symbols.len > 0) table(book, report, metrics, "Sizes", {});
  for (const auto& t : kTables)
    table(book, report, metrics, t.sheet, {.leading_dot = false, .by = t.by, .depth = t.depth});
  findings(book, report);
  about(book, report);
  book.finish();
}

}  // namespace xlsx_report
