#include "core/analysis/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/analysis/axes.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/naming.hpp"
#include "core/plugin_host/said_limits.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const tmeter_finding& f, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "finding '" + printable(view(f.rule)) + "' " + why);
}

void require_sound(const tmeter_finding& f) {
  if (f.severity < TMETER_SEVERITY_INFO || f.severity > TMETER_SEVERITY_ERROR)
    refuse(f, "has an unknown severity, " + std::to_string(f.severity));
  const auto targets = items_of(f.targets, f.target_count, said::kTargets, "targets of a finding");
  require_unreserved(targets, "a tmeter_target");
  for (const auto& c : items_of(f.changes, f.change_count, said::kChanges, "changes of a finding")) {
    if (std::isfinite(c.from) && std::isfinite(c.to)) continue;
    refuse(f, "changes metric '" + printable(view(c.metric)) + "' from or to what is not finite");
  }
}

std::string text_of(tmeter_str text) { return visible(view(text), said::kTextBytes); }

using Target = std::pair<int32_t, size_t>;

/// What the findings of one rule of one family are about, by the plugin they are of.
struct SharedRule {
  std::map<std::string_view, std::set<Target>> by_plugin;
  std::vector<std::string_view> plugins;  // in the order in which they came

  /// The plugin that is about most comes first.
  void rank() {
    std::ranges::stable_sort(plugins, std::greater(),
                             [&](auto plugin) { return by_plugin.at(plugin).size(); });
  }
  /// Another plugin, which ranks before the finding's, is about all of its targets.
  bool is_told_elsewhere(const Finding& f) const {
    if (f.targets.empty()) return false;
    const auto own = std::ranges::find(plugins, std::string_view(f.plugin));
    return std::any_of(plugins.begin(), own, [&](auto plugin) {
      const auto& told = by_plugin.at(plugin);
      return std::ranges::all_of(
          f.targets, [&](const tmeter_target& t) { return told.contains({t.axis, t.index}); });
    });
  }
};

}  // namespace

Finding make_finding(const tmeter_finding& theirs, std::string_view plugin, const Graph& graph) {
  const auto f = adopted(&theirs, TMETER_SIZE_1_0(tmeter_finding), "its tmeter_finding");
  if (f.rule.len == 0 || f.text.len == 0)
    throw Error(ErrorKind::kPlugin, "a finding needs a rule and a text");
  require_sound(f);
  for (size_t i = 0; i < f.target_count; ++i)
    require_target(graph, f.targets[i], "finding '" + printable(view(f.rule)) + "'");
  Finding out;
  out.severity = f.severity;
  out.rule = visible(view(f.rule), said::kTitleBytes);
  out.text = text_of(f.text);
  out.evidence = text_of(f.evidence);
  out.action = text_of(f.action);
  out.plugin = plugin;
  out.targets.assign(f.targets, f.targets + f.target_count);
  for (size_t i = 0; i < f.change_count; ++i)
    out.change_metrics.push_back(visible(view(f.changes[i].metric), said::kTitleBytes));
  for (size_t i = 0; i < f.change_count; ++i)
    out.changes.push_back({to_abi(out.change_metrics[i]), f.changes[i].from, f.changes[i].to});
  return out;
}

void drop_repeated(std::vector<Finding>& findings) {
  std::map<std::pair<std::string_view, std::string_view>, SharedRule> rules;  // family, rule
  for (const auto& f : findings) {
    auto& rule = rules[{family_of(f.plugin), f.rule}];
    const auto [at, is_new] = rule.by_plugin.try_emplace(f.plugin);
    if (is_new) rule.plugins.push_back(f.plugin);
    for (const auto& t : f.targets) at->second.emplace(t.axis, t.index);
  }
  std::erase_if(rules, [](const auto& r) { return r.second.plugins.size() < 2; });
  if (rules.empty()) return;
  for (auto& [key, rule] : rules) rule.rank();
  std::vector<bool> repeated;
  for (const auto& f : findings) {
    const auto rule = rules.find({family_of(f.plugin), f.rule});
    repeated.push_back(rule != rules.end() && rule->second.is_told_elsewhere(f));
  }
  size_t i = 0;
  std::erase_if(findings, [&](const Finding&) { return repeated[i++]; });
}

void most_severe_first(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

}  // namespace tmeter::core
