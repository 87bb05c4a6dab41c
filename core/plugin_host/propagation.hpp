// Sizes for other inputs than those recorded in the file: a plugin runs the graph again.
#pragma once
#include "core/plugin_host/model_loading.hpp"

namespace tmeter::core {

/// Replaces the model's graph by one for the inputs wanted of it. Throws Error(kRun) when no plugin
/// can, or the one that can says why these inputs do not work.
void propagate(Registry& registry, LoadedModel& model, const RunContext& run);

}  // namespace tmeter::core
