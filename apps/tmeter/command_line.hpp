// The command line of `tmeter [options] MODEL` and of the commands that have the same options: the
// only user of Boost.Program_options.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "core/config/settings.hpp"
#include "core/execution/executor.hpp"
#include "core/plugin_host/source.hpp"
#include "core/process/limits.hpp"
#include "core/report/writing.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::app {

struct CommandLine {
  bool help = false, version = false, trusted = false;
  int verbosity = 0;  // -1 quiet … 2
  unsigned threads = 1;
  core::Limits limits;
  std::string model;
  std::string other;               // the second file of a comparison
  std::vector<std::string> parts;  // all files of `tmeter merge`; `model` is the first
  bool index = false;              // `tmeter merge --index`: a row for each model
  bool update = false;             // `tmeter budget --update`: write the measured values
  bool why = false;                // `tmeter budget --why`: list modules that changed
  std::string config;              // --config
  std::string command;             // as typed in a shell: "tmeter model.pt2 --bind s0=8"
  core::Settings settings;
  std::vector<core::InputRequest> inputs;
  std::vector<std::pair<std::string, int64_t>> bindings;
  std::vector<core::SweepAxis> sweep;
  std::vector<std::string> assertions;
  std::map<std::string, std::string, std::less<>> view;
  RunMode running = RunMode::kNo;
  core::RunOptions runs;
  std::string root;         // --root: the module of the report; empty: the whole model
  std::string needs_model;  // the first given option that needs a model
  core::ColorMode color = core::ColorMode::kAuto;
  bool open = false;  // show the report in the browser
};

enum class Command { kAnalyse, kShow, kDiff, kMerge, kBudget };

/// Throws core::Error(kUsage) for an option that needs a model.
void refuse_model_options(const CommandLine& line);

/// Throws core::Error(kUsage), naming the nearest valid spelling, and for options that the command
/// does not have.
CommandLine parse_command_line(const Arguments& arguments, Command command = Command::kAnalyse);

/// "s77=8", as given to --bind. Throws core::Error(kUsage).
std::pair<std::string, int64_t> parse_binding(const std::string& text);

std::string help_text();

/// The options as `--help` has them, for completions and the manual page.
struct OptionText {
  std::string group;       // "What to compute"
  std::string name;        // "--plugins"
  std::string short_name;  // "-p", or empty
  std::string value;       // "A,B,...", or empty for a flag
  std::string text;
};
std::vector<OptionText> option_texts();

/// A status and its meaning.
const std::vector<std::pair<int, std::string_view>>& exit_statuses();

}  // namespace tmeter::app
