#include "columns.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <tmeter/cpp/nearest.hpp>

namespace reports {

using tmeter::Metric;
using tmeter::Report;

bool is_fact(std::string_view id) {
  constexpr std::array<std::string_view, 3> kFacts{"kernel_size", "input_size", "output_size"};
  return std::find(kFacts.begin(), kFacts.end(), id) != kFacts.end();
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    auto part = list.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return parts;
}

std::vector<Metric> all_metrics(const Report& report) {
  std::vector<Metric> all;
  for (const auto& m : report.metrics()) all.push_back(m);
  return all;
}

bool is_equal_in_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

/// A saved report lacks metrics that were not requested when it was made.
std::string how_to_get(std::string_view id) {
  return "; if a plugin has it, tmeter MODEL --plugins=all --columns=" + std::string(id) +
         " works it out";
}

}  // namespace

std::optional<Metric> metric_named(const Report& report, std::string_view name) {
  std::optional<Metric> titled;
  size_t titles = 0;
  for (const auto& m : report.metrics()) {
    if (m.id() == name) return m;
    if (!is_equal_in_any_case(m.title(), name)) continue;
    titled = m;
    ++titles;
  }
  return titles == 1 ? titled : std::nullopt;
}

Metric find_metric(const Report& report, std::string_view id, std::string_view option) {
  if (const auto named = metric_named(report, id)) return *named;
  std::string known_ids;
  std::vector<std::string_view> ids;
  for (const auto& m : report.metrics()) {
    known_ids += (known_ids.empty() ? "" : ", ") + std::string(m.id());
    ids.push_back(m.id());
  }
  const auto meant = tmeter::did_you_mean(id, ids);
  throw tmeter::Error(TMETER_BAD_USAGE,
                      std::string(option) + ": this report has no metric '" + std::string(id) +
                          "'" + meant + "; it has " + known_ids +
                          "; modules also have kernel_size, input_size, output_size" +
                          (meant.empty() ? how_to_get(id) : ""));
}

std::vector<std::string_view> chosen_facts(const Report& report) {
  std::vector<std::string_view> facts;
  for (const auto id : split(report.view("columns")))
    if (is_fact(id)) facts.push_back(id);
  return facts;
}

std::optional<Metric> main_metric(const std::vector<Metric>& metrics) {
  for (const int32_t axis : {TMETER_AXIS_NODE, TMETER_AXIS_TENSOR})
    for (const auto& m : metrics)
      if (m.axis() == axis && m.aggregation() == TMETER_AGGREGATE_SUM) return m;
  return std::nullopt;
}

bool is_readable(const Report& report, const Metric& metric) {
  return !metric.detail() && !metric.of_tensors() && !report.total(metric).empty();
}

std::vector<bool> chosen_modules(const tmeter::Report& report) {
  const auto graph = report.graph();
  const bool all = report.view("only") != "trainable";
  std::vector<bool> chosen(graph.modules().size(), all);
  if (all || chosen.empty()) return chosen;
  chosen[0] = true;
  for (const auto& t : graph.tensors())
    if (t.trainable() && t.kind() == TMETER_TENSOR_PARAMETER)
      for (auto m = t.owner(); m && !chosen[m.index()]; m = m.parent()) chosen[m.index()] = true;
  return chosen;
}

}  // namespace reports
