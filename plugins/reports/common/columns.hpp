// Which metrics a report shows, by --columns and their descriptors; none is known by name.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

/// Non-empty parts between commas.
std::vector<std::string_view> split(std::string_view list);

std::vector<tmeter::Metric> all_metrics(const tmeter::Report& report);

/// Throws tmeter::Error(TMETER_BAD_USAGE), naming what there is; `option`: "--columns".
tmeter::Metric find_metric(const tmeter::Report& report, std::string_view id,
                           std::string_view option);

/// Of --columns those that are named (facts of modules such as "kernel_size" aside), or else every
/// one for which `by_default` holds. "all" is every one, "none" none.
template <class Wanted>
std::vector<tmeter::Metric> chosen_metrics(const tmeter::Report& report, Wanted&& by_default);

/// "kernel_size", "input_size", "output_size": facts of modules, which are words.
bool is_fact(std::string_view id);

/// Facts of modules that --columns names: "kernel_size", "input_size", "output_size".
std::vector<std::string_view> chosen_facts(const tmeter::Report& report);

/// The metric that says where the cost is: the first of operators that adds up, else the first of
/// tensors, among `metrics`.
std::optional<tmeter::Metric> main_metric(const std::vector<tmeter::Metric>& metrics);

/// For tables that people read: no details, nothing that only tensors have, nothing that has no
/// total.
bool is_readable(const tmeter::Report& report, const tmeter::Metric& metric);

template <class Wanted>
std::vector<tmeter::Metric> chosen_metrics(const tmeter::Report& report, Wanted&& by_default) {
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

}  // namespace reports
