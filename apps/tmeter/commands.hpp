// The commands `tmeter NAME …`: one table for the program's start, `--help`, the manual page,
// completions and the correction of typing errors. Each command takes its own arguments, returns
// the exit status, and throws core::Error.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::app {

using Arguments = std::vector<std::string>;

int analyse_command(const Arguments& arguments);  ///< tmeter [options] MODEL
int show_command(const Arguments& arguments);
int diff_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int budget_command(const Arguments& arguments);
int fleet_command(const Arguments& arguments);
int plugin_command(const Arguments& arguments);
int hardware_command(const Arguments& arguments);
int config_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);
int manual_command(const Arguments& arguments);

/// A line of `--help`.
struct Usage {
  std::string_view usage, text;
};

struct CommandEntry {
  std::string_view name;
  int (*run)(const Arguments&);
  Usage help;                             // empty: an earlier line has the name
  std::vector<std::string_view> words{};  // subcommands; at most one follows the name
  bool has_options = true;                // false: its --help is that of tmeter
};

std::span<const CommandEntry> commands();

/// Null for an unknown name.
const CommandEntry* find_command(std::string_view name);

std::vector<std::string_view> command_names();

/// The lines of `--help`; the first one is of `tmeter MODEL`.
std::vector<Usage> usages();

}  // namespace tmeter::app
