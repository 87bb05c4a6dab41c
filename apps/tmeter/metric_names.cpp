#include "apps/tmeter/metric_names.hpp"

#include <strings.h>

#include <algorithm>
#include <string>

#include "apps/tmeter/plugin_choice.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Names = std::vector<std::string>;

/// The run or the saved report that lacks the metric.
enum class MetricSource { kRun, kReport };

struct RequestedMetric {
  std::string name, option;  // "energy", "--sort"
};

std::vector<RequestedMetric> requested_metrics_of(const Session& session) {
  std::vector<RequestedMetric> out;
  const auto& view = session.line().view;
  for (const char* key : {"columns", "sort"}) {
    const auto at = view.find(key);
    if (at == view.end()) continue;
    for (auto& name : split(at->second, ",")) {
      const auto first = name.find_first_not_of(' ');
      if (first == name.npos) continue;
      out.push_back(
          {name.substr(first, name.find_last_not_of(' ') + 1 - first), "--" + std::string(key)});
    }
  }
  for (const auto& text : session.line().assertions)
    if (const auto a = parse_assertion(text); !is_of_operators(a))
      out.push_back({a.metric, "--assert '" + printable(text) + "'"});
  return out;
}

bool contains(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& candidate) {
    return candidate.size() == name.size() &&
           strncasecmp(candidate.data(), name.data(), name.size()) == 0;
  });
}

/// "--plugins=params,flops,memory,energy", "--inference"
std::string options_that_add(const Plugin& plugin, bool measured, const Session& session) {
  const auto& m = plugin.manifest;
  if (const auto option = option_of_measuring(m); !option.empty()) return option;
  auto plugins = joined(session.line().settings.plugins);
  std::erase(plugins, ' ');
  const auto& given = session.line().settings.plugins;
  const bool defaults = std::all_of(given.begin(), given.end(),
                                    [](const std::string& name) { return name.starts_with('-'); });
  if (defaults) plugins = "params,flops,memory" + (plugins.empty() ? "" : "," + plugins);
  return "--plugins=" + plugins + "," + m.name + (measured ? " --inference" : "");
}

/// Throws Error(kUsage) if a plugin has the metric or this name.
void refuse_if_in_plugin(const Plugin& plugin, const RequestedMetric& requested,
                         const Session& session, MetricSource source) {
  const auto& m = plugin.manifest;
  const bool is_metric = contains(m.metrics, requested.name);
  if (is_metric ? plugin.is_open() && source == MetricSource::kRun
                : m.metrics.empty() || m.name != requested.name)
    return;
  const bool measured =
      contains(m.measured, requested.name) || m.measured.size() == m.metrics.size();
  const auto options = options_that_add(plugin, measured, session);
  const auto why = plugin.library.empty()    ? " is not available: " + m.unavailable
                   : !plugin.failure.empty() ? " failed: " + plugin.failure
                   : source == MetricSource::kReport
                       ? " is not in the report; `tmeter MODEL " + options +
                             (is_metric ? " --columns=" + requested.name : "") + "` has it"
                   : plugin.is_open() ? ""
                                      : " is added by " + options;
  if (is_metric)
    throw Error(ErrorKind::kUsage, requested.option + ": metric '" + printable(requested.name) +
                                       "' is of plugin '" + m.name + "', which" + why);
  throw Error(ErrorKind::kUsage,
              requested.option + ": '" + m.name + "' is a plugin, not a metric; " +
                  (why.empty() ? "" : "it" + why + "; ") + "its metrics: " + joined(m.metrics));
}

void require(const Session& session, const Names& available, MetricSource source) {
  for (const auto& requested : requested_metrics_of(session)) {
    if (contains(available, requested.name)) continue;
    Names installed;
    for (const auto& p : session.registry().plugins()) {
      refuse_if_in_plugin(*p, requested, session, source);
      installed.insert(installed.end(), p->manifest.metrics.begin(), p->manifest.metrics.end());
    }
    if (!nearest(requested.name, available).empty())
      continue;  // the report's or the bound's own message
    const auto meant = nearest(requested.name, installed);
    if (meant.empty()) continue;
    for (const auto& p : session.registry().plugins())
      if (contains(p->manifest.metrics, meant))
        throw Error(ErrorKind::kUsage, requested.option + ": there is no metric '" +
                                           printable(requested.name) + "' (did you mean '" + meant +
                                           "' of plugin '" + p->manifest.name + "'?)");
  }
}

/// Names that are not metrics of plugins.
Names other_names() {
  return {"all", "none", "coverage", "unknown", "kernel_size", "input_size", "output_size", "sqnr"};
}

}  // namespace

void require_metrics_of_run(const Session& session, const std::vector<Plugin*>& plugins) {
  auto available = other_names();
  for (const auto* p : plugins)
    for (const auto& m : p->offers().metrics)
      available.insert(available.end(), {str(m.id), str(m.title)});
  require(session, available, MetricSource::kRun);
}

void require_metrics_of_report(const Session& session, const Results& results) {
  auto available = other_names();
  for (const auto& c : results.columns) available.insert(available.end(), {c.id, c.title});
  require(session, available, MetricSource::kReport);
}

}  // namespace tmeter::app
