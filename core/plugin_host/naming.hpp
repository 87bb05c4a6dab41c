// Resolves names of plugins. A full id ("com.acme.flops") means exactly that plugin; a short name
// ("flops") must belong to one plugin only.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::core {

struct Plugin;
using PluginList = std::vector<std::unique_ptr<Plugin>>;

/// Null when no plugin has the name. A usable plugin wins against unusable ones of its name. Throws
/// Error(kUsage) when the name is ambiguous, with the candidates and the way out.
Plugin* find_plugin(const PluginList& plugins, std::string_view name);

/// The plugin that `by` names in its `needs`: of several, the one whose id has the same start.
/// Null if no plugin has the name. Throws Error(kUsage) if several are left.
Plugin* find_needed(const PluginList& plugins, std::string_view need, const Plugin& by);

/// The common start of the ids of plugins that belong together: "com.acme." of "com.acme.flops"; an
/// id without a dot is its own family.
std::string_view family_of(std::string_view id);

/// The path of a plugin's library, or another description of its origin.
std::string location_of(const Plugin& plugin);

}  // namespace tmeter::core
