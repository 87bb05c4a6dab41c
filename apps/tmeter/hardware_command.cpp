// `tmeter hardware list|measure`: the known profiles; a new measurement of this machine.
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/measured_hardware.hpp"
#include "core/base/error.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

int list() {
  const auto folder = data_folder() + "/hardware";
  std::string out;
  for (const auto& name : known_hardware({folder}))
    out += name + "  " + load_hardware(name, {folder}).title + "\n";
  out += "auto  this machine, measured and kept in " + measured_hardware_file() + "\n";
  Terminal::output(out);
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
  throw Error(ErrorKind::kUsage, "`tmeter hardware list` or `tmeter hardware measure`");
}

}  // namespace tmeter::app
