#include <algorithm>
#include <limits>
#include <set>

#include "columns.hpp"
#include "look/look.hpp"
#include "paragraphs.hpp"
#include "tables.hpp"

namespace text_report {
namespace {

using tmeter::Metric;
using tmeter::Report;

tmeter_symbol_info symbol(const Report& report, int64_t index) {
  return report.graph().symbols()[static_cast<size_t>(index)];
}

// "s77 (x.0)"
std::string title_of(const tmeter_symbol_info& s) {
  std::string title(tmeter::to_view(s.name));
  if (s.place.len) title.append(" (").append(tmeter::to_view(s.place)).append(")");
  return title;
}

// "s77 = x.0 (2 … 64)"
Text legend_item(const tmeter_symbol_info& s) {
  Text item(tmeter::to_view(s.name));
  if (s.place.len) item.add(" = ").add(tmeter::to_view(s.place));
  const bool bounded = s.max != std::numeric_limits<int64_t>::max();
  const auto range = std::to_string(s.min) + " … " + (bounded ? std::to_string(s.max) : "any");
  return item.add(" (" + range + ")", Style::kQuiet);
}

std::vector<Text> legend(const Report& report, const tmeter_i64_span& symbols, size_t width) {
  std::vector<Text> items;
  for (size_t i = 0; i < symbols.len; ++i) {
    Text item(i == 0 ? "by size: " : "", Style::kQuiet);
    items.push_back(item.append(legend_item(symbol(report, symbols.ptr[i]))));
  }
  return flow_items(items, width, 2);
}

bool varies(const Report& report, size_t formula, const tmeter_formula& f) {
  for (size_t t = 0; t < f.term_count; ++t) {
    const auto powers = report.term(formula, t).powers;
    if (std::any_of(powers.ptr, powers.ptr + powers.len, [](int64_t p) { return p > 0; }))
      return true;
  }
  return false;
}

}  // namespace

bool has_sweep(const Report& report) { return report.sweep().symbols.len > 0; }

std::vector<Metric> sweep_metrics(const Columns& columns, const View& view) {
  std::vector<Metric> metrics;
  for (const auto& m : columns.totals)
    if (view.columns || m.axis() != TMETER_AXIS_TENSOR) metrics.push_back(m);
  metrics.insert(metrics.end(), columns.facts.begin(), columns.facts.end());
  return metrics;
}

Table sweep_table(const Report& report, const std::vector<Metric>& metrics, bool raw) {
  const auto sweep = report.sweep();
  Table table;
  for (size_t i = 0; i < sweep.symbols.len; ++i)
    table.columns.push_back({title_of(symbol(report, sweep.symbols.ptr[i])), "", true});
  for (const auto& m : metrics)
    table.columns.push_back(
        {column_title(m, raw), std::string(m.plugin()), false, std::string(m.id())});
  for (size_t p = 0; p < sweep.point_count; ++p) {
    Table::Row row;
    const auto point = report.sweep_point(p);
    for (size_t i = 0; i < point.len; ++i)
      row.values.push_back({std::to_string(point.ptr[i]), "", Style::kStrong});
    for (const auto& m : metrics)
      row.values.push_back(shown_value(report.sweep_total(p, m), m, raw));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Text> formula_lines(const Report& report, const Columns& columns, bool raw,
                                size_t width) {
  std::vector<Text> lines;
  const auto formulas = report.formulas();
  std::vector<Metric> metrics(columns.shown.begin(), columns.shown.end());
  metrics.insert(metrics.end(), columns.facts.begin(), columns.facts.end());
  for (size_t i = 0; i < formulas.size(); ++i) {
    const auto f = formulas[i];
    const auto shown = [&](const Metric& m) { return m.index() == f.metric; };
    const auto column = std::find_if(metrics.begin(), metrics.end(), shown);
    if (f.module != 0 || column == metrics.end() || !varies(report, i, f)) continue;
    if (lines.empty()) lines = legend(report, f.symbols, width);
    std::string text(tmeter::to_view(f.text));
    if (raw) std::erase(text, ',');
    Text line("  ");
    line.add(column->title(), Style::kQuiet);
    line.add(f.flags & TMETER_FORMULA_PARTIAL ? " ≥ " : " = ").add(text);
    bool first = true;  // flow drops the spaces a line begins with
    for (auto& part : flow(line, width > 2 ? width - 2 : width, 4)) {
      lines.push_back(first ? Text("  ").append(part) : std::move(part));
      first = false;
    }
  }
  return lines;
}

}  // namespace text_report
