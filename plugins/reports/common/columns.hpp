// The metrics and modules that a report shows, chosen by --columns, --only and descriptors: no
// metric is known by name.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

/// Non-empty parts between commas.
std::vector<std::string_view> split(std::string_view list);

std::vector<tmeter::Metric> all_metrics(const tmeter::Report& report);

/// Equal except for the case of ASCII letters.
bool is_equal_in_any_case(std::string_view a, std::string_view b);

/// The metric with this id or, in any case of letters, this title. Empty if several have the
/// title.
std::optional<tmeter::Metric> metric_named(const tmeter::Report& report, std::string_view name);

/// Throws tmeter::Error(TMETER_BAD_USAGE) that lists the metrics; `option`: "--columns".
tmeter::Metric find_metric(const tmeter::Report& report, std::string_view id,
                           std::string_view option);

/// The metrics that --columns names, without facts of modules such as "kernel_size"; without
/// --columns every metric for which `by_default` holds. "all" is every metric, "none" none.
template <class IsDefault>
std::vector<tmeter::Metric> chosen_metrics(const tmeter::Report& report, IsDefault&& by_default);

/// "kernel_size", "input_size", "output_size": facts of modules, which are texts.
bool is_fact(std::string_view id);

/// Facts of modules that --columns names: "kernel_size", "input_size", "output_size".
std::vector<std::string_view> chosen_facts(const tmeter::Report& report);

/// The metric of cost among `metrics`: the first of operators that is summed, else the first of
/// tensors.
std::optional<tmeter::Metric> main_metric(const std::vector<tmeter::Metric>& metrics);

/// Whether tables for people show a metric: not details, metrics of tensors only, and metrics
/// without a total.
bool is_readable(const tmeter::Report& report, const tmeter::Metric& metric);

template <class IsDefault>
std::vector<tmeter::Metric> chosen_metrics(const tmeter::Report& report, IsDefault&& by_default) {
  const auto ids = split(report.view("columns"));
  std::vector<tmeter::Metric> chosen;
  if (ids.empty())
    for (const auto& m : report.metrics())
      if (by_default(m)) chosen.push_back(m);
  for (const auto id : ids) {
    if (id == "all") return all_metrics(report);
    if (id != "none" && !is_fact(id)) chosen.push_back(find_metric(report, id, "--columns"));
  }
  return chosen;
}

// The modules in tables: all, or with `--only trainable` those with trainable parameters.

/// By index, whether the module is shown: with `--only trainable` the root, and the modules that
/// hold trainable parameters, themselves or inside.
std::vector<bool> chosen_modules(const tmeter::Report& report);

}  // namespace reports
