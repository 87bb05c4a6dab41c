// The parts of `tmeter plugin` with files of their own. They throw core::Error.
#pragma once
#include <string>
#include <vector>

#include "core/config/settings.hpp"
#include "core/process/worker.hpp"

namespace tmeter::app {

/// A project in the folder (empty: one of the plugin's name), from the templates of share/tmeter.
int new_plugin(const std::string& name, const std::string& kind, const std::string& folder);

/// `plugin info`: a plugin's description, as lines.
std::string plugin_facts(const core::Settings& settings, const std::string& name,
                         core::Worker& worker);

/// The input of `plugin check`.
struct CheckRequest {
  std::string library;
  std::vector<std::string> models, calls;  // in addition to the built-in ones
  core::Settings settings;                 // for the folders of other plugins
};

/// Checks a library for its reviewer. Runs in the worker, because the plugin's callbacks are
/// called.
core::Outcome check_plugin(const CheckRequest& request, core::Worker& worker);

}  // namespace tmeter::app
