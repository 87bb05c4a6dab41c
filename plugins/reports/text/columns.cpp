#include "../common/columns.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tmeter/cpp/units.hpp>

#include "columns.hpp"
#include "plugins/common/utf8.hpp"
#include "tree_lines.hpp"

namespace text_report {

namespace {

using tmeter::Error;

By read_by(std::string_view text) {
  if (text.empty() || text == "module") return By::kModule;
  if (text == "operator") return By::kOperator;
  if (text == "type") return By::kType;
  if (text == "family") return By::kFamily;
  if (text == "tensor") return By::kTensor;
  throw Error(TMETER_BAD_USAGE, "--by takes module, operator, type, family or tensor, not '" +
                                    std::string(text) + "'");
}

std::optional<size_t> read_depth(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "all") return std::numeric_limits<size_t>::max();
  size_t depth = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(TMETER_BAD_USAGE,
                "--depth takes a whole number from 0 or 'all', not '" + std::string(text) + "'");
  return depth;
}

}  // namespace

View read_view(const tmeter::Report& report) {
  View view;
  view.by = read_by(report.view("by"));
  view.depth = read_depth(report.view("depth"));
  if (const auto columns = report.view("columns"); !columns.empty()) {
    const auto ids = reports::split(columns);
    view.columns.emplace(ids.begin(), ids.end());
  }
  view.sort = report.view("sort");
  view.fold = report.view("no-fold").empty();
  view.repr = report.view("repr") == "1";
  view.all_notes = report.view("verbose") == "1";
  view.summary = report.view("summary") == "1";
  if (view.summary && !view.depth) view.depth = 1;
  view.raw = report.view("raw") == "1";
  return view;
}

namespace {

using tmeter::Metric;
using tmeter::Report;

bool is_share(const Metric& m) { return m.aggregation() == TMETER_AGGREGATE_SUM; }

/// Whether the file lacks the weights, so that their statistics are unknown.
bool has_tensor_values(const Report& report, const Metric& m) {
  for (const auto& t : report.graph().tensors())
    if (!report.cell(m, t).empty()) return true;
  return false;
}

std::optional<Metric> metric_of(const Report& report, std::string_view id) {
  for (const auto& m : report.metrics())
    if (m.id() == id) return m;
  return std::nullopt;
}

/// The metrics of a list that the report has. An unknown name is a mistake.
std::vector<Metric> listed_metrics(const Report& report, const Look& look, const Ids& list) {
  std::vector<Metric> listed;
  for (const auto& id : list.ids) {
    if (const auto m = metric_of(report, id))
      listed.push_back(*m);
    else if (!list.built_in() && !reports::is_fact(id) && !look.is_metric(id))
      look.fail(list.given, 0, "there is no metric '" + plugins::readable(id) + "'");
  }
  return listed;
}

/// The columns and totals of a report without --columns. The built-in lists are for a report
/// that has all of their metrics and operators: users who chose one plugin see its metrics.
struct Defaults {
  std::vector<Metric> columns, totals;
  bool apply = false;

  Defaults(const Report& report, const Look& look)
      : columns(listed_metrics(report, look, look.columns_by_default)),
        totals(listed_metrics(report, look, look.totals)) {
    const auto missing = [](const Ids& list, const std::vector<Metric>& found) {
      const auto facts = std::count_if(list.ids.begin(), list.ids.end(),
                                       [](const std::string& id) { return reports::is_fact(id); });
      return found.size() + static_cast<size_t>(facts) < list.ids.size();
    };
    const bool built_in = look.columns_by_default.built_in();
    const bool whole = !missing(look.columns_by_default, columns) && !missing(look.totals, totals);
    apply = (!built_in || whole) && report.graph().nodes().size() > 0;
  }
};

/// The plugins of the built-in lists. Only their listed metrics are shown.
std::vector<std::string> brief_plugins(const Report& report) {
  std::vector<std::string> plugins;
  for (const auto list : {kTableColumns, kTableTotals})
    for (const auto id : reports::split(list))
      if (const auto m = metric_of(report, id)) plugins.emplace_back(m->plugin());
  return plugins;
}

std::vector<Metric> selected_metrics(const Report& report, const View& view,
                                     const Defaults& defaults,
                                     const std::vector<std::string>& brief) {
  std::vector<Metric> selected;
  const bool listed = !view.columns && defaults.apply && !view.summary;
  if (listed) selected = defaults.columns;
  const auto is_brief = [&](const Metric& m) {
    return listed && std::find(brief.begin(), brief.end(), m.plugin()) != brief.end();
  };
  const auto add = [&](bool details) {
    for (const auto& m : report.metrics())
      if ((details || !m.detail()) && !is_brief(m)) selected.push_back(m);
  };
  if (!view.columns) add(false);
  for (const auto& id : view.columns.value_or(std::vector<std::string>{})) {
    if (id == "none" || reports::is_fact(id)) continue;
    if (id == "all")
      add(true);
    else
      selected.push_back(reports::find_metric(report, id, "--columns"));
  }
  return selected;
}

// The first metric of operators that adds up, else the first of parameters.
std::optional<size_t> choose_bar(const Columns& columns) {
  const auto& shown = columns.shown;
  if (columns.sort && is_share(shown[*columns.sort])) return columns.sort;
  for (const int32_t axis : {TMETER_AXIS_NODE, TMETER_AXIS_TENSOR})
    for (size_t i = 0; i < shown.size(); ++i)
      if (shown[i].axis() == axis && is_share(shown[i])) return i;
  return std::nullopt;
}

std::optional<size_t> position(const std::vector<Metric>& metrics, std::string_view id) {
  const auto it =
      std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.id() == id; });
  if (it == metrics.end()) return std::nullopt;
  return static_cast<size_t>(it - metrics.begin());
}

/// A metric that is not shown yet is shown when rows are sorted by it.
void choose_sort(const Report& report, const View& view, Columns& columns) {
  const auto metric = reports::find_metric(report, view.sort, "--sort");
  auto& list = metric.of_tensors() ? columns.of_tensors : columns.shown;
  auto& sort = metric.of_tensors() ? columns.sort_of_tensors : columns.sort;
  sort = position(list, metric.id());
  if (sort) return;
  list.push_back(metric);
  sort = list.size() - 1;
}

// The other reports of such a run have the details. The column that sorts the rows stays.
void keep_first_of_each_plugin(const Report& report, std::vector<Metric>& metrics,
                               std::optional<size_t>& sort) {
  const auto sorted = sort ? std::string(metrics[*sort].id()) : std::string();
  std::vector<std::string_view> covered_plugins;
  std::vector<Metric> kept;
  for (const auto& m : metrics) {
    const bool first = std::find(covered_plugins.begin(), covered_plugins.end(), m.plugin()) ==
                       covered_plugins.end();
    const bool empty = report.total(m).empty() && !m.of_tensors();
    if (m.id() != sorted && (!first || empty)) continue;
    covered_plugins.push_back(m.plugin());
    kept.push_back(m);
  }
  metrics = std::move(kept);
  if (sort) sort = position(metrics, sorted);
}

}  // namespace

Columns choose_columns(const Report& report, const View& view, const Look& look) {
  Columns columns;
  for (const auto& id : view.columns.value_or(std::vector<std::string>{}))
    if (reports::is_fact(id)) columns.facts_of_modules.push_back(id);
  if (!columns.facts_of_modules.empty() && view.by != By::kModule)
    throw tmeter::Error(TMETER_BAD_USAGE, "--columns " + columns.facts_of_modules[0] +
                                              " works with --by module only");
  const Defaults defaults(report, look);
  const bool listed = !view.columns && defaults.apply && !view.summary;
  if (listed) columns.brief_plugins = brief_plugins(report);
  if (listed && view.by == By::kModule)
    for (const auto& id : look.columns_by_default.ids)
      if (reports::is_fact(id)) columns.facts_of_modules.push_back(id);
  for (const auto& m : selected_metrics(report, view, defaults, columns.brief_plugins)) {
    if (m.axis() == TMETER_AXIS_MODEL && report.total(m).empty()) continue;  // without a value
    const bool none = m.provenance() == TMETER_PROVENANCE_UNAVAILABLE;
    if (!none && !view.columns && m.of_tensors() && !has_tensor_values(report, m)) continue;
    auto& list = none                            ? columns.unavailable
                 : m.of_tensors()                ? columns.of_tensors
                 : m.axis() == TMETER_AXIS_MODEL ? columns.facts
                                                 : columns.shown;
    if (!position(list, m.id())) list.push_back(m);
  }
  if (!view.sort.empty()) choose_sort(report, view, columns);
  if (listed)
    for (const auto& m : defaults.totals)
      if (m.provenance() != TMETER_PROVENANCE_UNAVAILABLE) columns.totals.push_back(m);
  for (const auto& m : columns.shown)
    if (!position(columns.totals, m.id())) columns.totals.push_back(m);
  if (view.summary && !view.columns) {
    keep_first_of_each_plugin(report, columns.shown, columns.sort);
    keep_first_of_each_plugin(report, columns.of_tensors, columns.sort_of_tensors);
  }
  columns.bar = choose_bar(columns);
  columns.cells = metrics_of_labels(report, look, columns.shown);
  return columns;
}

std::string column_title(const tmeter::Metric& metric, bool raw) {
  std::string title(metric.title());
  const auto kind = metric.unit_kind();
  const bool counts = kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP;
  if (raw && !counts && !metric.unit().empty())
    title.append(" [").append(metric.unit()).append("]");
  return title;
}

ShownValue shown_value(const Cell& cell, const tmeter::Metric& metric, bool raw) {
  if (cell.empty()) return {"–", "", Style::kQuiet};
  if (cell.is_unknown()) return {"?", "", Style::kWarning};
  if (cell.is_unavailable()) return {"n/a", "", Style::kQuiet};
  if (cell.in_module()) return {"↑", "", Style::kQuiet};
  ShownValue out;
  if (raw) {
    out.number = plain_number(cell);
  } else if (cell.real() == 0) {
    out.number = "0";
  } else {
    auto scaled = tmeter::scaled(cell.real(), metric.unit_kind(), metric.unit());
    out = {std::move(scaled.number), std::move(scaled.unit), Style::kPlain};
  }
  if (cell.real() == 0) out.style = Style::kQuiet;
  if (cell.assumed()) out.number.insert(0, "~");
  if (cell.partial()) out.number.insert(0, reports::bounds_from_below(metric) ? "≥" : "≈");
  if (cell.assumed() || cell.partial()) out.style = Style::kWarning;
  return out;
}

}  // namespace text_report
