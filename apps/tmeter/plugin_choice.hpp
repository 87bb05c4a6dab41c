// Chooses the plugins of a run.
#pragma once
#include <string>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {

/// Whether the model is run, and how closely it is measured.
enum class RunMode { kNo, kInference, kProfile };

/// Ids from --plugins (the default set, "all", without omitted ones), from --plugin, and of
/// plugins that measure runs. Throws Error(kUsage) for a measuring plugin without a run.
std::vector<std::string> chosen_plugins(core::Registry& registry,
                                        const std::vector<std::string>& requested, RunMode running);

/// "--inference" or "--profile" for a plugin that these add; else empty.
std::string option_of_measuring(const core::Manifest& manifest);

/// Sorts plugins by topic: size, computation, cost, weights, then third-party plugins by id. It
/// determines the order of columns, regardless of the order on the command line and of
/// dependencies.
void sort_by_topic(std::vector<std::string>& ids);
void sort_by_topic(std::vector<core::Plugin*>& plugins);

/// Ids of other plugins that handle an operator or module of this model. An in-house
/// layer is counted once its plugin is in a plugin folder.
std::vector<std::string> plugins_with_handlers(core::Registry& registry, const core::Graph& graph);

void append_unique(std::vector<std::string>& names, const std::vector<std::string>& more);

}  // namespace tmeter::app
