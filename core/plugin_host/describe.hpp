// Describes an open plugin as a manifest.
#pragma once
#include "core/config/manifest.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"

namespace tmeter::core {

Manifest describe(const PluginInstance& plugin, const PluginCapabilities& offers);

}  // namespace tmeter::core
