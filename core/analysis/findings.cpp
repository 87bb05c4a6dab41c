#include "core/analysis/findings.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/axes.hpp"
#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"

namespace tmeter::core {
namespace {

/// Whether `all` is about everything `some` is about.
bool covers(const Finding& all, const Finding& some) {
  std::set<std::pair<int32_t, size_t>> things;
  for (const auto& t : all.targets) things.emplace(t.axis, t.index);
  return !some.targets.empty() &&
         std::all_of(some.targets.begin(), some.targets.end(), [&](const auto& t) {
           return things.contains({t.axis, t.index});
         });
}

void require_sound(const tmeter_finding& f) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kPlugin, "finding '" + str(f.rule) + "' " + why);
  };
  if (f.severity < TMETER_SEVERITY_INFO || f.severity > TMETER_SEVERITY_ERROR)
    refuse("has an unknown severity, " + std::to_string(f.severity));
  for (size_t i = 0; i < f.change_count; ++i) {
    if (std::isfinite(f.changes[i].from) && std::isfinite(f.changes[i].to)) continue;
    refuse("changes metric '" + str(f.changes[i].metric) + "' from or to what is not finite");
  }
}

}  // namespace

Finding make_finding(const tmeter_finding& theirs, std::string_view plugin, const Graph& graph) {
  const auto f = adopted(&theirs, TMETER_SIZE_1_0(tmeter_finding), "its tmeter_finding");
  if (f.rule.len == 0 || f.text.len == 0)
    throw Error(ErrorKind::kPlugin, "a finding needs a rule and a text");
  require_sound(f);
  for (size_t i = 0; i < f.target_count; ++i)
    require_target(graph, f.targets[i], "finding '" + str(f.rule) + "'");
  Finding out;
  out.severity = f.severity;
  out.rule = str(f.rule);
  out.text = str(f.text);
  out.evidence = str(f.evidence);
  out.action = str(f.action);
  out.plugin = plugin;
  out.targets.assign(f.targets, f.targets + f.target_count);
  for (size_t i = 0; i < f.change_count; ++i)
    out.change_metrics.push_back(str(f.changes[i].metric));
  for (size_t i = 0; i < f.change_count; ++i)
    out.changes.push_back({to_abi(out.change_metrics[i]), f.changes[i].from, f.changes[i].to});
  return out;
}

void drop_repeated(std::vector<Finding>& findings) {
  std::vector<bool> repeated(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    for (size_t k = 0; k < findings.size() && !repeated[i]; ++k) {
      const auto &f = findings[i], &other = findings[k];
      if (other.rule != f.rule || other.plugin == f.plugin || !covers(other, f)) continue;
      repeated[i] = other.targets.size() > f.targets.size() || k < i;
    }
  }
  size_t i = 0;
  std::erase_if(findings, [&](const Finding&) { return repeated[i++]; });
}

void most_severe_first(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

}  // namespace tmeter::core
