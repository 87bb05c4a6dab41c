// The arguments of `tmeter plugin`, parsed by a table that is also its help.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/tmeter/commands.hpp"
#include "core/config/settings.hpp"

namespace tmeter::app {

struct PluginArguments {
  std::string what;     // "list", "check", …; empty: the user requested help, which is in `help`
  std::string operand;  // NAME, FILE or FOLDER
  std::string output, kind;
  std::vector<std::string> models, calls;  // for `check`
  core::Settings settings;
  std::string help;
};

std::vector<std::string_view> plugin_subcommands();

/// Throws Error(kUsage) naming the nearest valid word.
PluginArguments plugin_arguments(const Arguments& arguments);

}  // namespace tmeter::app
