// Which plugins take part in a run.
#pragma once
#include <string>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {

/// Whether the model is run, and how closely that is looked at.
enum class Running { kNo, kInference, kProfile };

/// The ids of --plugins: the default set, "all", without those left out; of --plugin; and of what
/// measures runs. Throws Error(kUsage) for one that only measures where nothing is run.
std::vector<std::string> chosen_plugins(core::Registry& registry,
                                        const std::vector<std::string>& asked, Running running);

/// The order of columns, and of everything else that plugins add, is that of what most readers ask
/// first, and does not depend on the order in which plugins are named or need each other: what a
/// model holds, what it computes, what that takes, what is in the weights, then strangers by id.
void put_in_order(std::vector<std::string>& ids);
void put_in_order(std::vector<core::Plugin*>& plugins);

/// Ids of plugins that were not chosen but handle an operator or module of this model: an in-house
/// layer is counted as soon as its plugin lies in a plugin folder.
std::vector<std::string> handlers_wanted(core::Registry& registry, const core::Graph& graph);

void append_unique(std::vector<std::string>& names, const std::vector<std::string>& more);

}  // namespace tmeter::app
