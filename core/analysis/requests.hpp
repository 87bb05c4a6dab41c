// Decides which of the metrics on request (TMETER_METRIC_ON_REQUEST) a run computes.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// The words that users wrote in columns, assertions and options.
struct RequestedMetrics {
  std::set<std::string, std::less<>> ids;
  std::vector<std::string> names;  // parts between commas and comparisons, which may be titles
  bool all = false;

  /// Adds every word of a text that could be a metric's id.
  void add_words(std::string_view text);
  bool names_metric(std::string_view id, std::string_view title) const;
};

/// Sets Plugin::unrequested for a run with these plugins. A metric is requested, too, if an
/// analysis that runs requires it, or a requested mean is weighted by it.
void choose_requested(const std::vector<Plugin*>& plugins, const RequestedMetrics& requested);

/// Whether this run computes none of these metrics, separated by spaces. False for an empty list.
bool is_unrequested(const Plugin& plugin, std::string_view produced);

}  // namespace tmeter::core
