// Checks a plugin's capability tables once, when it is opened: missing callbacks, invalid names,
// duplicates. All later users of the tables rely on these checks.
#pragma once
#include "core/plugin_host/plugin_capabilities.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin), naming plugin, table and item. What a later minor may have given a meaning – an
/// axis, an aggregation, the type of an option, a right that is optional – costs that item alone: it is
/// changed or left out, and `offers.notes` says so.
void check_capabilities(const PluginInstance& plugin, PluginCapabilities& offers);

}  // namespace tmeter::core
