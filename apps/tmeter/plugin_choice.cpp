#include "apps/tmeter/plugin_choice.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/error.hpp"

namespace tmeter::app {
namespace {
using namespace core;

const std::vector<std::string> kDefaultPlugins{"org.tmeter.params", "org.tmeter.flops",
                                               "org.tmeter.memory"};

/// Plugins that measure a run. The third and later ones need --profile; the last one is the bound
/// to compare with.
const std::vector<std::string> kMeasuring{"org.tmeter.latency", "org.tmeter.allocations",
                                          "org.tmeter.profile", "org.tmeter.system",
                                          "org.tmeter.roofline"};
constexpr size_t kOfInference = 2;

/// Own plugins whose metrics are columns, the most used first.
constexpr std::array<std::string_view, 11> kImportance{"org.tmeter.params",
                                                       "org.tmeter.flops",
                                                       "org.tmeter.memory",
                                                       "org.tmeter.latency",
                                                       "org.tmeter.allocations",
                                                       "org.tmeter.energy",
                                                       "org.tmeter.activations",
                                                       "org.tmeter.language-model",
                                                       "org.tmeter.architecture",
                                                       "org.tmeter.param-stats",
                                                       "org.tmeter.quantization-advice"};

auto place_of(const std::string& id) {
  const auto rank = std::find(kImportance.begin(), kImportance.end(), id) - kImportance.begin();
  return std::pair<ptrdiff_t, const std::string&>(rank, id);
}

/// True if all of its metrics need a run.
bool only_measures(const Manifest& m) {
  return !m.measured.empty() && m.measured.size() == m.metrics.size();
}

/// Whether all plugins that it needs, directly or not, are installed: without `energy` there is no
/// advice on it.
bool has_required_plugins(Registry& registry, const Manifest& m, int depth = 0) {
  constexpr int kMaxNeedsDepth = 8;  // plugins may need each other
  const auto& all = registry.plugins();
  return depth > kMaxNeedsDepth ||
         std::all_of(m.needs.begin(), m.needs.end(), [&](const std::string& need) {
           const auto at = std::find_if(all.begin(), all.end(), [&](const auto& p) {
             return p->manifest.name == need || p->manifest.id == need;
           });
           return at != all.end() && has_required_plugins(registry, (*at)->manifest, depth + 1);
         });
}

bool is_removal(const std::string& name) { return name.starts_with("-"); }

}  // namespace

std::vector<std::string> chosen_plugins(Registry& registry,
                                        const std::vector<std::string>& requested,
                                        RunMode running) {
  std::vector<std::string> ids;
  const auto add = [&](std::string_view name) {
    const auto& m = registry.get(name).manifest;
    if (running == RunMode::kNo && only_measures(m))
      throw Error(ErrorKind::kUsage,
                  "plugin '" + m.name + "' measures runs of the model: add --inference");
    ids.push_back(m.id);
  };
  const auto is_there = [&](const std::string& id) {
    const auto& all = registry.plugins();
    return std::any_of(all.begin(), all.end(), [&](const auto& p) { return p->manifest.id == id; });
  };
  if (std::all_of(requested.begin(), requested.end(), is_removal)) {
    for (const auto& id : kDefaultPlugins) {
      if (requested.empty() || is_there(id)) add(id);
    }
  }
  for (const auto& name : requested) {
    if (is_removal(name)) continue;  // the registry has removed it
    if (name != "all") add(name);
    for (const auto& p : registry.plugins()) {
      const bool idle = running == RunMode::kNo && only_measures(p->manifest);
      if (name == "all" && !p->manifest.metrics.empty() && !idle &&
          has_required_plugins(registry, p->manifest))
        ids.push_back(p->manifest.id);
    }
  }
  const auto only_writes = [&](const std::string& id) {
    const auto& m = registry.get(id).manifest;
    return m.metrics.empty() && !m.writers.empty();
  };
  if (!ids.empty() && std::all_of(ids.begin(), ids.end(), only_writes)) {
    const auto& m = registry.get(ids.front()).manifest;
    throw Error(ErrorKind::kUsage, "plugin '" + m.name +
                                       "' computes nothing, it writes reports: give --report " +
                                       m.writers.front().name + " instead of --plugins=" + m.name);
  }
  const size_t measuring = running == RunMode::kNo          ? 0
                           : running == RunMode::kInference ? kOfInference
                                                            : kMeasuring.size();
  for (size_t i = 0; i < measuring; ++i) {
    if (is_there(kMeasuring[i])) append_unique(ids, {kMeasuring[i]});
  }
  append_unique(ids, registry.given_files());
  return ids;
}

std::string option_of_measuring(const Manifest& manifest) {
  const auto at = std::find(kMeasuring.begin(), kMeasuring.end(), manifest.id) - kMeasuring.begin();
  if (at == std::ssize(kMeasuring) || !only_measures(manifest)) return {};
  return at < static_cast<ptrdiff_t>(kOfInference) ? "--inference" : "--profile";
}

void sort_by_topic(std::vector<std::string>& ids) {
  std::sort(ids.begin(), ids.end(),
            [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
}

void sort_by_topic(std::vector<Plugin*>& plugins) {
  std::sort(plugins.begin(), plugins.end(), [](const auto* a, const auto* b) {
    return place_of(a->manifest.id) < place_of(b->manifest.id);
  });
}

std::vector<std::string> plugins_with_handlers(Registry& registry, const Graph& graph) {
  std::set<std::string_view> handled_names;
  std::vector<std::string> names;
  const auto handles_something = [](const auto& p) {
    return !p->manifest.handles.empty() && !p->library.empty();
  };
  if (std::none_of(registry.plugins().begin(), registry.plugins().end(), handles_something))
    return names;
  for (const auto& n : graph.nodes()) handled_names.insert(n.op);
  for (const auto* m : graph.modules())
    if (handled_names.insert(m->type).second)
      handled_names.insert(m->type.substr(m->type.rfind('.') + 1));
  for (const auto& p : registry.plugins()) {
    const auto& handles = p->manifest.handles;
    if (std::any_of(handles.begin(), handles.end(),
                    [&](const auto& h) { return handled_names.contains(h); })) {
      names.push_back(p->manifest.id);
    }
  }
  return names;
}

void append_unique(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const auto& n : more) {
    if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
  }
}

}  // namespace tmeter::app
