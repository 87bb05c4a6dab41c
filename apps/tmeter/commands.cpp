#include "apps/tmeter/commands.hpp"

#include <algorithm>

#include "apps/tmeter/plugin_arguments.hpp"

namespace tmeter::app {

std::span<const CommandEntry> commands() {
  static const std::vector<CommandEntry> all{
      {"show",
       show_command,
       {"tmeter show [options] REPORT.json",
        "show a saved report in any format, without the model"}},
      {"diff",
       diff_command,
       {"tmeter diff [options] BEFORE AFTER", "compare two models or saved reports"}},
      {"merge",
       merge_command,
       {"tmeter merge [options] REPORT...",
        "merge reports of shards; --index: a row for each model"}},
      {"budget",
       budget_command,
       {"tmeter budget [--update] [--why]", "check the [[budget]] tables of tmeter.toml"},
       {"--update", "--why"}},
      {"fleet",
       fleet_command,
       {"tmeter fleet [options] FILES...", "analyse many models at once, by the Python package"}},
      {"plugin",
       plugin_command,
       {"tmeter plugin list|info|check|new", "list installed plugins; check or write your own"},
       plugin_subcommands()},
      {"hardware",
       hardware_command,
       {"tmeter hardware, config, completion",
        "machine profiles; the default configuration; bash, zsh, fish"},
       {"list", "info", "measure"},
       false},
      {"config", config_command, {}, {}, false},
      {"completion", completion_command, {}, {"bash", "zsh", "fish"}, false},
      {"manual", manual_command, {}, {}, false}};
  return all;
}

const CommandEntry* find_command(std::string_view name) {
  const auto all = commands();
  const auto at = std::ranges::find(all, name, &CommandEntry::name);
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> out;
  for (const auto& c : commands()) out.push_back(c.name);
  return out;
}

std::vector<Usage> usages() {
  std::vector<Usage> out{{"tmeter [options] MODEL", "analyse"}};
  for (const auto& c : commands())
    if (!c.help.usage.empty()) out.push_back(c.help);
  return out;
}

}  // namespace tmeter::app
