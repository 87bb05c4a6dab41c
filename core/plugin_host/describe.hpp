// What an opened plugin says of itself, as a manifest.
#pragma once
#include <tmeter/abi/entry.h>

#include "core/config/manifest.hpp"

namespace tmeter::core {

/// Calls `init` if the plugin's capabilities cannot be seen otherwise; `init` again later is fine.
/// Throws Error(kPlugin) when init fails.
Manifest describe(const tmeter_plugin_entry_v1& entry);

}  // namespace tmeter::core
