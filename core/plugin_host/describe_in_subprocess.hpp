// A plugin that no manifest describes is asked what it offers, in a process of its own that is in
// the sandbox before the library is opened. What that process says is data, and not believed: it
// is bounded and checked here, and once more when the plugin is opened to be used.
#pragma once
#include <string>

#include "core/config/manifest.hpp"
#include "core/config/pinned_library.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// `library`: its path, under which it is told. `file`: the library, opened; null for one of
/// tmeter's own folder. Throws PluginError when code of the plugin fails, ends or stalls that
/// process, Error(kPlugin) when it is no plugin that can be used. Call it before the sandbox is
/// entered and while there is one thread.
Manifest describe_in_subprocess(const std::string& library, const PinnedLibrary* file, OpenedFor opening);

}  // namespace tmeter::core
