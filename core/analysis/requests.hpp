// Metrics that are worked out on request only (TMETER_METRIC_ON_REQUEST): which of them this run
// does without.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// What users asked for: the words of columns, assertions and options.
struct RequestedMetrics {
  std::set<std::string, std::less<>> ids;
  bool all = false;

  /// Adds every word of a text that could be a metric's id.
  void add_words(std::string_view text);
};

/// Sets Plugin::unrequested for a run with these plugins. A metric is requested, too, if an
/// analysis that runs requires it, or a requested mean is weighted by it.
void choose_requested(const std::vector<Plugin*>& plugins, const RequestedMetrics& requested);

/// Whether an analysis that produces these metrics, separated by spaces, has nothing to do.
bool is_unrequested(const Plugin& plugin, std::string_view produced);

}  // namespace tmeter::core
