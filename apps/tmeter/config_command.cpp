// `tmeter config`: the complete default configuration as TOML, made from the plugins' declarations.
#include <optional>
#include <sstream>

#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
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
  if (bare) return str(o.default_value);
  std::string out = "\"";
  for (const char c : view(o.default_value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Lines of a readable length.
void print_comment(const std::string& text, std::ostream& out) {
  constexpr size_t kWidth = 100;
  size_t column = 0;
  for (const auto& word : split(text, " ")) {
    const bool fits = column > 0 && column + 1 + word.size() <= kWidth;
    if (column > 0 && !fits) out << "\n";
    out << (fits ? " " : "# ") << word;
    column = (fits ? column + 1 : 2) + word.size();
  }
  out << "\n";
}

void print_option(const tmeter_option_desc& o, std::string_view key, std::ostream& out) {
  print_comment(str(o.text) + (o.choices.len ? " (" + str(o.choices) + ")" : ""), out);
  out << key << " = " << toml_value(o) << "\n";
}

/// Prints the names of the tables; "column.*.style" gives "column.default".
void print_tables(const std::vector<tmeter_option_desc>& options, const std::string& prefix,
                  std::ostream& out) {
  std::optional<std::string> last;
  for (const auto& o : options) {
    auto path = str(o.key);
    const auto star = path.find('*');
    const auto any = path.substr(0, star);
    if (star != path.npos) path.replace(star, 1, "default");
    const auto dot = path.rfind('.');
    const auto table = dot == path.npos ? std::string() : "." + path.substr(0, dot);
    if (table != last) out << "\n[" << prefix << table << "]\n";
    if (table != last && star != path.npos)
      out << "# for all; [" << prefix << "." << any << "NAME] is for one\n";
    last = table;
    print_option(o, std::string_view(path).substr(dot + 1), out);
  }
}

void print_plugin(const Plugin& p, std::ostream& out) {
  const auto& options = p.offers().options;
  const auto prefix = "plugin." + p.manifest.name;
  if (!options.empty()) out << "\n[" << prefix << "]\n";
  for (const auto& o : options) print_option(o, view(o.key), out);
  print_tables(p.offers().option_tables, prefix, out);
}

Outcome print_configuration(Worker& worker) {
  const Settings settings;
  Registry registry(settings, worker.excluded());
  worker.enter_sandbox(run_rights(settings, {}, registry));
  std::ostringstream out;
  out << "# tmeter configuration: use it with --config FILE; the command line wins.\n"
         "plugins = [\"params\", \"flops\", \"memory\"]\nfull = false\nplugin-path = []\nreport = "
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
