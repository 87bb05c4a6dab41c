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
enum class Of { kRun, kReport };

struct Asked {
  std::string name, option;  // "energy", "--sort"
};

std::vector<Asked> metrics_asked_for(const Session& session) {
  std::vector<Asked> out;
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
  return std::any_of(names.begin(), names.end(), [&](const std::string& known) {
    return known.size() == name.size() && strncasecmp(known.data(), name.data(), name.size()) == 0;
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
void refuse_if_of(const Plugin& plugin, const Asked& asked, const Session& session, Of of) {
  const auto& m = plugin.manifest;
  const bool is_metric = contains(m.metrics, asked.name);
  if (is_metric ? plugin.is_open() && of == Of::kRun : m.metrics.empty() || m.name != asked.name)
    return;
  const bool measured = contains(m.measured, asked.name) || m.measured.size() == m.metrics.size();
  const auto options = options_that_add(plugin, measured, session);
  const auto why = plugin.library.empty()    ? " is not available: " + m.unavailable
                   : !plugin.failure.empty() ? " failed: " + plugin.failure
                   : of == Of::kReport
                       ? " is not in the report; `tmeter MODEL " + options +
                             (is_metric ? " --columns=" + asked.name : "") + "` has it"
                   : plugin.is_open() ? ""
                                      : " is added by " + options;
  if (is_metric)
    throw Error(ErrorKind::kUsage, asked.option + ": metric '" + printable(asked.name) +
                                       "' is of plugin '" + m.name + "', which" + why);
  throw Error(ErrorKind::kUsage, asked.option + ": '" + m.name + "' is a plugin, not a metric; " +
                                     (why.empty() ? "" : "it" + why + "; ") +
                                     "its metrics: " + joined(m.metrics));
}

void require(const Session& session, const Names& known, Of of) {
  for (const auto& asked : metrics_asked_for(session)) {
    if (contains(known, asked.name)) continue;
    Names elsewhere;
    for (const auto& p : session.registry().plugins()) {
      refuse_if_of(*p, asked, session, of);
      elsewhere.insert(elsewhere.end(), p->manifest.metrics.begin(), p->manifest.metrics.end());
    }
    if (!nearest(asked.name, known).empty()) continue;  // the report's or the bound's own message
    const auto meant = nearest(asked.name, elsewhere);
    if (meant.empty()) continue;
    for (const auto& p : session.registry().plugins())
      if (contains(p->manifest.metrics, meant))
        throw Error(ErrorKind::kUsage, asked.option + ": there is no metric '" +
                                           printable(asked.name) + "' (did you mean '" + meant +
                                           "' of plugin '" + p->manifest.name + "'?)");
  }
}

/// Names that are not metrics of plugins.
Names other_names() {
  return {"all", "none", "coverage", "unknown", "kernel_size", "input_size", "output_size", "sqnr"};
}

}  // namespace

void require_metrics_of_run(const Session& session, const std::vector<Plugin*>& plugins) {
  auto known = other_names();
  for (const auto* p : plugins)
    for (const auto& m : p->offers().metrics) known.insert(known.end(), {str(m.id), str(m.title)});
  require(session, known, Of::kRun);
}

void require_metrics_of_report(const Session& session, const Results& results) {
  auto known = other_names();
  for (const auto& c : results.columns) known.insert(known.end(), {c.id, c.title});
  require(session, known, Of::kReport);
}

}  // namespace tmeter::app
