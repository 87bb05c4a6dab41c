// Checks a plugin's capability tables once, when it is opened: missing callbacks, invalid names,
// duplicates. All later users of the tables rely on these checks.
#pragma once
#include "core/plugin_host/plugin_capabilities.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin), naming plugin, table and item. An item with a value that a later minor
/// may define – an axis, an aggregation, an option's type, an optional right – is changed or left
/// out, and `offers.notes` reports it.
void check_capabilities(const PluginInstance& plugin, PluginCapabilities& offers);

}  // namespace tmeter::core
