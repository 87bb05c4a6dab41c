// Describes a plugin as a manifest: an open one, or one without a manifest in a process of its own.
#pragma once
#include <string>

#include "core/config/manifest.hpp"
#include "core/config/pinned_library.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// An open plugin.
Manifest describe(const PluginInstance& plugin, const PluginCapabilities& offers);

/// In a process of its own, which enters the sandbox before it opens the library. The answer is
/// untrusted data: it is bounded and checked here, and again when the plugin is opened for use.
///
/// `library`: its path, for messages. `file`: the opened library; null for a library of tmeter's
/// own folder. Throws PluginError when code of the plugin fails, ends or stalls that process,
/// Error(kPlugin) when the library is not a usable plugin. Call it before the sandbox is entered
/// and while there is one thread.
Manifest describe_in_subprocess(const std::string& library, const PinnedLibrary* file,
                                OpenedFor opening);

}  // namespace tmeter::core
