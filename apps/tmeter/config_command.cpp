// `tmeter config`: the complete default configuration as TOML, made from what the plugins declare.
#include <sstream>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/config/hardware.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/supervisor.hpp"

namespace tmeter::app {
namespace {
using namespace core;

std::string toml_value(const tmeter_option_desc& o) {
  const bool bare =
      o.type == TMETER_OPTION_INT || o.type == TMETER_OPTION_FLOAT || o.type == TMETER_OPTION_BOOL;
  return bare ? str(o.default_value) : "\"" + str(o.default_value) + "\"";
}

void print_plugin(const Plugin& p, std::ostream& out) {
  const auto& options = p.offers().options;
  if (options.empty()) return;
  out << "\n[plugin." << p.manifest.name << "]\n";
  for (const auto& o : options) {
    out << "# " << str(o.text) << (o.choices.len ? " (" + str(o.choices) + ")" : "") << "\n"
        << str(o.key) << " = " << toml_value(o) << "\n";
  }
}

Ending print_configuration(Worker& worker) {
  const Settings settings;
  Registry registry(settings, worker.excluded());
  std::ostringstream out;
  out << "# tmeter configuration: use it with --config FILE; the command line wins.\n"
         "plugins = [\"params\", \"flops\", \"memory\"]\nplugin-path = []\nreport = "
         "[\"text\"]\nhardware = \""
      << kDefaultHardware << "\"\n";
  for (const auto& p : registry.plugins()) {
    if (p->manifest.options.empty() || p->library.empty()) continue;
    registry.open(*p);
    print_plugin(*p, out);
  }
  worker.report(0, out.str());
  return {};
}

}  // namespace

int config_command(const Arguments& arguments) {
  if (!arguments.empty()) throw Error(ErrorKind::kUsage, "`tmeter config` takes no arguments");
  add_plugin_host_interfaces();
  return supervise_command("", print_configuration);
}

}  // namespace tmeter::app
