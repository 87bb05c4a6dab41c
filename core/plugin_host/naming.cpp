#include "core/plugin_host/naming.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {
namespace {

bool is_usable(const Plugin* p) { return !p->library.empty() && p->described; }

std::vector<Plugin*> called(const PluginList& plugins, std::string_view name) {
  std::vector<Plugin*> out;
  for (const auto& p : plugins) {
    if (p->manifest.name == name) out.push_back(p.get());
  }
  if (std::any_of(out.begin(), out.end(), is_usable))
    std::erase_if(out, [](const Plugin* p) { return !is_usable(p); });
  return out;
}

Plugin* with_id(const PluginList& plugins, std::string_view id) {
  const auto it = std::find_if(plugins.begin(), plugins.end(),
                               [&](const auto& p) { return p->manifest.id == id; });
  return it == plugins.end() ? nullptr : it->get();
}

Plugin* only_one(std::vector<Plugin*> found, std::string_view name) {
  if (found.size() < 2) return found.empty() ? nullptr : found.front();
  std::sort(found.begin(), found.end(),
            [](const Plugin* a, const Plugin* b) { return a->manifest.id < b->manifest.id; });
  std::string list;
  for (const auto* p : found)
    list += (list.empty() ? "" : ", ") + p->manifest.id + " (" + location_of(*p) + ")";
  throw Error(ErrorKind::kUsage,
              std::to_string(found.size()) + " plugins are called '" + std::string(name) +
                  "': " + list + "; say which by its full id, or leave one out with --plugins=-" +
                  found.back()->manifest.id);
}

}  // namespace

std::string_view family_of(std::string_view id) {
  const auto dot = id.rfind('.');
  return dot == id.npos ? id : id.substr(0, dot + 1);
}

Plugin* find_plugin(const PluginList& plugins, std::string_view name) {
  if (auto* p = with_id(plugins, name)) return p;
  return only_one(called(plugins, name), name);
}

Plugin* find_needed(const PluginList& plugins, std::string_view need, const Plugin& by) {
  if (auto* p = with_id(plugins, need)) return p;
  auto found = called(plugins, need);
  const auto family = family_of(by.manifest.id);
  const auto is_in_family = [&](const Plugin* p) { return family_of(p->manifest.id) == family; };
  if (std::any_of(found.begin(), found.end(), is_in_family))
    std::erase_if(found, [&](const Plugin* p) { return !is_in_family(p); });
  return only_one(std::move(found), need);
}

std::string location_of(const Plugin& p) {
  return p.library.empty() ? "whose library is missing" : p.library;
}

}  // namespace tmeter::core
