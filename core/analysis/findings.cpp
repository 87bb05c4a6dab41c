#include "core/analysis/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "core/analysis/emission_rules.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/naming.hpp"
#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const tmeter_finding& f, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "finding '" + printable(view(f.rule)) + "' " + why);
}

void require_valid_finding(const tmeter_finding& f) {
  if (f.severity < TMETER_SEVERITY_INFO || f.severity > TMETER_SEVERITY_ERROR)
    refuse(f, "has an unknown severity, " + std::to_string(f.severity));
  const auto targets =
      items_of(f.targets, f.target_count, plugin_limits::kTargets, "targets of a finding");
  require_unreserved(targets, "a tmeter_target");
  for (const auto& c :
       items_of(f.changes, f.change_count, plugin_limits::kChanges, "changes of a finding")) {
    if (std::isfinite(c.from) && std::isfinite(c.to)) continue;
    refuse(f, "changes metric '" + printable(view(c.metric)) +
                  "' from or to a value that is not finite");
  }
}

std::string text_of(tmeter_str text) { return visible(view(text), plugin_limits::kTextBytes); }

using Target = std::pair<int32_t, size_t>;

/// For one rule within one family of plugins: the targets of its findings, by plugin.
struct SharedRule {
  std::map<std::string_view, std::set<Target>> by_plugin;
  std::vector<std::string_view> plugins;  // in order of their first findings

  /// Puts the plugin with the most targets first.
  void rank() {
    std::ranges::stable_sort(plugins, std::greater(),
                             [&](auto plugin) { return by_plugin.at(plugin).size(); });
  }
  /// Whether a plugin of higher rank reports all of its targets.
  bool is_reported_elsewhere(const Finding& f) const {
    if (f.targets.empty()) return false;
    const auto own = std::ranges::find(plugins, std::string_view(f.plugin));
    return std::any_of(plugins.begin(), own, [&](auto plugin) {
      const auto& reported = by_plugin.at(plugin);
      return std::ranges::all_of(f.targets, [&](const tmeter_target& t) {
        return reported.contains({t.axis, t.index});
      });
    });
  }
};

void require_increasing(std::span<const double> values, const std::string& what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && (i == 0 || values[i - 1] < values[i])) continue;
    throw Error(ErrorKind::kPlugin, what + " has edges that do not increase or are not finite");
  }
}

std::string title_of(tmeter_str text) { return visible(view(text), plugin_limits::kTitleBytes); }

}  // namespace

Finding make_finding(const tmeter_finding& theirs, std::string_view plugin, const Graph& graph) {
  const auto f = adopted(&theirs, TMETER_SIZE_1_0(tmeter_finding), "its tmeter_finding");
  if (f.rule.len == 0 || f.text.len == 0)
    throw Error(ErrorKind::kPlugin, "a finding needs a rule and a text");
  require_valid_finding(f);
  for (size_t i = 0; i < f.target_count; ++i)
    require_target(graph, f.targets[i], "finding '" + printable(view(f.rule)) + "'");
  Finding out;
  out.severity = f.severity;
  out.rule = visible(view(f.rule), plugin_limits::kTitleBytes);
  out.text = text_of(f.text);
  out.evidence = text_of(f.evidence);
  out.action = text_of(f.action);
  out.plugin = plugin;
  out.targets.assign(f.targets, f.targets + f.target_count);
  for (size_t i = 0; i < f.change_count; ++i)
    out.change_metrics.push_back(visible(view(f.changes[i].metric), plugin_limits::kTitleBytes));
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
    repeated.push_back(rule != rules.end() && rule->second.is_reported_elsewhere(f));
  }
  size_t i = 0;
  std::erase_if(findings, [&](const Finding&) { return repeated[i++]; });
}

void most_severe_first(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

Distribution make_distribution(const tmeter_distribution& theirs, std::string_view plugin,
                               const Graph& graph) {
  const auto d = adopted(&theirs, TMETER_SIZE_1_0(tmeter_distribution), "its tmeter_distribution");
  const auto what = "distribution '" + printable(view(d.id)) + "'";
  require_unreserved(std::span(&d.of, 1), "a tmeter_target");
  require_target(graph, d.of, what);
  if (d.id.len == 0 || d.bin_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const auto counts =
      items_of(d.counts, d.bin_count, plugin_limits::kNumbers, "bins of a distribution");
  const auto edges =
      items_of(d.edges, d.bin_count + 1, plugin_limits::kNumbers, "edges of a distribution");
  require_increasing(edges, what);
  return {.id = title_of(d.id),
          .title = title_of(d.title),
          .unit = title_of(d.unit),
          .plugin = std::string(plugin),
          .of = d.of,
          .edges = {edges.begin(), edges.end()},
          .counts = {counts.begin(), counts.end()}};
}

Series make_series(const tmeter_series& theirs, std::string_view plugin, const Graph& graph) {
  const auto s = adopted(&theirs, TMETER_SIZE_1_0(tmeter_series), "its tmeter_series");
  const auto what = "series '" + printable(view(s.id)) + "'";
  require_unreserved(std::span(&s.of, 1), "a tmeter_target");
  require_target(graph, s.of, what);
  if (s.id.len == 0 || s.point_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const auto x = items_of(s.x, s.point_count, plugin_limits::kNumbers, "points of a series");
  const auto y = items_of(s.y, s.point_count, plugin_limits::kNumbers, "points of a series");
  require_increasing(x, what);
  if (!std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); }))
    throw Error(ErrorKind::kPlugin, what + " has a point that is not finite");
  return {.id = title_of(s.id),
          .title = title_of(s.title),
          .x_title = title_of(s.x_title),
          .x_unit = title_of(s.x_unit),
          .y_title = title_of(s.y_title),
          .y_unit = title_of(s.y_unit),
          .plugin = std::string(plugin),
          .of = s.of,
          .x = {x.begin(), x.end()},
          .y = {y.begin(), y.end()}};
}

}  // namespace tmeter::core
