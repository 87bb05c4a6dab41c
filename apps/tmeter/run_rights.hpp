// The rights of a run, and the plugins that request more.
#pragma once
#include <string>
#include <vector>

#include "apps/tmeter/plugin_choice.hpp"
#include "core/config/settings.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/sandbox.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {

/// The folders of these files, plugins with the libraries they are linked to, hardware profiles,
/// and the files that system libraries read.
core::Rights run_rights(const core::Settings& settings, const std::vector<std::string>& files,
                        const core::Registry& registry);

/// The rights that `running` and `device` add: to read sensors; counters of this process
/// for --profile; a GPU's devices for a model that runs on it.
void add_rights_of_runs(core::Rights& rights, RunMode running, const std::string& device);

/// The plugins that the user named with --plugins, --plugin or --report and that declare rights. A
/// plugin that was only found in a folder gets none.
std::vector<const core::Plugin*> declared_rights(core::Registry& registry,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<core::ReportTarget>& targets);

}  // namespace tmeter::app
