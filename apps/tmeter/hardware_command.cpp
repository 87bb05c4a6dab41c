// `tmeter hardware list|info|measure`: the known profiles; the values of one; a new measurement of
// this machine.
#include <algorithm>

#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/measured_hardware.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

int list() {
  const auto folder = data_folder() + "/hardware";
  std::string out;
  for (const auto& name : hardware_names({folder}))
    out += name + "  " + load_hardware(name, {folder}).title + "\n";
  out += "auto  this machine, measured and kept in " + measured_hardware_file() + "\n";
  Terminal::output(out);
  return 0;
}

/// Each value of a profile with its source.
int info(const std::string& name) {
  const auto profile = name == "auto" ? measured_hardware(false, false).profile
                                      : load_hardware(name, {data_folder() + "/hardware"});
  std::string out = profile.name + "  " + profile.title + "\n";
  size_t width = 0;
  for (const auto& [key, number] : profile.numbers) width = std::max(width, key.size());
  for (const auto& [key, number] : profile.numbers)
    out += "  " + key + std::string(width + 2 - key.size(), ' ') + short_number(number.value) +
           " " + number.unit + "  (" + number.source + ")\n";
  Terminal::output(terminal_safe(out));
  return 0;
}

int measure() {
  Terminal::output(measured_hardware(false, true).text);
  return 0;
}

}  // namespace

int hardware_command(const Arguments& arguments) {
  if (arguments == Arguments{"list"}) return list();
  if (arguments == Arguments{"measure"}) return measure();
  if (arguments.size() == 2 && arguments[0] == "info") return info(arguments[1]);
  const auto& subcommands = find_command("hardware")->words;
  const auto meant = arguments.empty() || std::ranges::count(subcommands, arguments[0])
                         ? std::string()
                         : did_you_mean(arguments[0], subcommands);
  throw Error(ErrorKind::kUsage,
              "`tmeter hardware list`, `tmeter hardware info NAME` or `tmeter hardware measure` is "
              "expected" +
                  meant);
}

}  // namespace tmeter::app
