// Describes a plugin without a manifest in a separate process, which enters the sandbox before it
// opens the library. Its answer is untrusted data: it is bounded and checked here, and again when
// the plugin is opened for use.
#pragma once
#include <string>

#include "core/config/manifest.hpp"
#include "core/config/pinned_library.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// `library`: its path, for messages. `file`: the opened library; null for a library of tmeter's
/// own folder. Throws PluginError when code of the plugin fails, ends or stalls that process,
/// Error(kPlugin) when the library is not a usable plugin. Call it before the sandbox is entered
/// and while there is one thread.
Manifest describe_in_subprocess(const std::string& library, const PinnedLibrary* file,
                                OpenedFor opening);

}  // namespace tmeter::core
