// Which plugins take part in a run.
#pragma once
#include <string>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {

/// Whether the model is run, and how closely it is measured.
enum class Running { kNo, kInference, kProfile };

/// The ids of --plugins: the default set, "all", without those left out; of --plugin; and of
/// plugins that measure runs. Throws Error(kUsage) for one that only measures where nothing is run.
std::vector<std::string> chosen_plugins(core::Registry& registry,
                                        const std::vector<std::string>& asked, Running running);

/// "--inference" or "--profile" for a plugin that these add; else empty.
std::string option_of_measuring(const core::Manifest& manifest);

/// Sorts plugins by what most readers look for first: size, computation, cost, weights, then
/// third-party plugins by id. The order of columns follows, and depends neither on the order of
/// names on the command line nor on dependencies.
void put_in_order(std::vector<std::string>& ids);
void put_in_order(std::vector<core::Plugin*>& plugins);

/// Ids of plugins that were not chosen but handle an operator or module of this model: an in-house
/// layer is counted as soon as its plugin lies in a plugin folder.
std::vector<std::string> handlers_wanted(core::Registry& registry, const core::Graph& graph);

void append_unique(std::vector<std::string>& names, const std::vector<std::string>& more);

}  // namespace tmeter::app
