// Sizes for inputs other than the recorded ones: a plugin recomputes the graph.
#pragma once
#include "core/plugin_host/model_loading.hpp"

namespace tmeter::core {

/// Replaces the model's graph by one for the requested inputs. Throws Error(kRun) if no plugin can,
/// or with the plugin's reason if it refuses these inputs.
void propagate(Registry& registry, LoadedModel& model, const RunContext& run);

}  // namespace tmeter::core
