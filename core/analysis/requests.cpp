#include "core/analysis/requests.hpp"

#include <strings.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Removes the ids from `unrequested` of all plugins. Returns whether one was found.
bool request(const std::vector<Plugin*>& plugins, const std::vector<std::string>& ids) {
  size_t found = 0;
  for (auto* p : plugins)
    for (const auto& id : ids) found += p->unrequested.erase(id);
  return found > 0;
}

/// The metrics that the requested parts of a plugin need.
std::vector<std::string> needs_of(const Plugin& plugin) {
  std::vector<std::string> ids;
  const auto add = [&](const std::vector<std::string>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
  };
  for (const auto& a : plugin.offers().analyses)
    if (!is_unrequested(plugin, view(a.produced))) add(split(str(a.required), " "));
  for (const auto& m : plugin.offers().metrics)
    if (!plugin.unrequested.contains(view(m.id))) add({str(m.weight)});
  for (const auto& h : plugin.offers().module_handlers)
    if (!plugin.unrequested.contains(view(h.metric))) add(split(str(h.follows), " "));
  return ids;
}

}  // namespace

void RequestedMetrics::add_words(std::string_view text) {
  for (auto& part : split(std::string(text), ",<>=!")) {
    const auto first = part.find_first_not_of(' ');
    if (first != part.npos)
      names.push_back(part.substr(first, part.find_last_not_of(' ') + 1 - first));
  }
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_id_character(text[end])) ++end;
    if (end > i) ids.emplace(text.substr(i, end - i));
    i = end + 1;
  }
}

bool RequestedMetrics::names_metric(std::string_view id, std::string_view title) const {
  return ids.contains(id) || std::any_of(names.begin(), names.end(), [&](const auto& name) {
           return name.size() == title.size() &&
                  strncasecmp(name.data(), title.data(), title.size()) == 0;
         });
}

bool is_unrequested(const Plugin& plugin, std::string_view produced) {
  const auto ids = split(std::string(produced), " ");
  return !ids.empty() && std::all_of(ids.begin(), ids.end(), [&](const auto& id) {
    return plugin.unrequested.contains(id);
  });
}

void choose_requested(const std::vector<Plugin*>& plugins, const RequestedMetrics& requested) {
  for (auto* p : plugins) {
    p->unrequested.clear();
    for (const auto& m : p->offered.metrics)
      if ((m.flags & TMETER_METRIC_ON_REQUEST) && !requested.all &&
          !requested.names_metric(view(m.id), view(m.title)))
        p->unrequested.insert(str(m.id));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto* p : plugins) changed = request(plugins, needs_of(*p)) || changed;
  }
}

}  // namespace tmeter::core
