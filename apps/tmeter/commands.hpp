// The subcommands. Each takes its own arguments, returns the exit status, and throws core::Error.
#pragma once
#include <string>
#include <vector>

namespace tmeter::app {

using Arguments = std::vector<std::string>;

int analyse_command(const Arguments& arguments);  ///< tmeter [options] MODEL
int show_command(const Arguments& arguments);     ///< tmeter show [options] REPORT.json
int diff_command(const Arguments& arguments);     ///< tmeter diff [options] BEFORE AFTER
int merge_command(const Arguments& arguments);    ///< tmeter merge [options] REPORT.json...
int budget_command(const Arguments& arguments);   ///< tmeter budget [--update] [--why] [MODEL...]
int plugin_command(const Arguments& arguments);   ///< tmeter plugin list|info|manifest|check|new
int hardware_command(const Arguments& arguments); ///< tmeter hardware list|info|measure
int fleet_command(const Arguments& arguments);     ///< tmeter fleet, by the Python package
int config_command(const Arguments& arguments);   ///< tmeter config
int completion_command(const Arguments& arguments);  ///< tmeter completion bash|zsh|fish
int manual_command(const Arguments& arguments);      ///< tmeter manual

}  // namespace tmeter::app
