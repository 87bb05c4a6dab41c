#include "columns.hpp"

#include <algorithm>

namespace text_report {
namespace {

using tmeter::Metric;
using tmeter::Report;

bool is_share(const Metric& m) { return m.aggregation() == TMETER_AGGREGATE_SUM; }

Metric find_metric(const Report& report, std::string_view id, std::string_view option) {
  std::string known;
  for (const auto& m : report.metrics()) {
    if (m.id() == id) return m;
    known += (known.empty() ? "" : ", ") + std::string(m.id());
  }
  throw tmeter::Error(TMETER_BAD_USAGE, std::string(option) + ": this report has no metric '" +
                                            std::string(id) + "' (it has " + known + ")");
}

std::vector<Metric> wanted_metrics(const Report& report, const View& view) {
  std::vector<Metric> wanted;
  const auto add = [&](bool details) {
    for (const auto& m : report.metrics())
      if (details || !m.detail()) wanted.push_back(m);
  };
  if (!view.columns) add(false);
  for (const auto& id : view.columns.value_or(std::vector<std::string>{})) {
    if (id == "none") continue;
    if (id == "all")
      add(true);
    else
      wanted.push_back(find_metric(report, id, "--columns"));
  }
  return wanted;
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

}  // namespace

Columns choose_columns(const Report& report, const View& view) {
  Columns columns;
  for (const auto& m : wanted_metrics(report, view)) {
    const bool none = m.provenance() == TMETER_PROVENANCE_UNAVAILABLE;
    auto& list = none                            ? columns.unavailable
                 : m.axis() == TMETER_AXIS_MODEL ? columns.facts
                                                 : columns.shown;
    if (!position(list, m.id())) list.push_back(m);
  }
  if (!view.sort.empty()) {
    columns.sort = position(columns.shown, view.sort);
    if (!columns.sort) {
      columns.shown.push_back(find_metric(report, view.sort, "--sort"));
      columns.sort = columns.shown.size() - 1;
    }
  }
  columns.bar = choose_bar(columns);
  return columns;
}

}  // namespace text_report
