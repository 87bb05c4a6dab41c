#include "apps/tmeter/plugin_arguments.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using namespace core;

struct Option {
  std::string_view name, value, text;
};
constexpr Option kOutput{"--output", "FILE", "writes to a file instead of standard output"},
    kFolder{"--output", "FOLDER", "the project's folder; default: one called NAME"},
    kKind{
        "--kind", "KIND",
        "op, metric, analysis, advice, tensor, loader, report, shape, module, observer, executor"},
    kPath{"--plugin-path", "DIR", "searches this folder for plugins, too"},
    kPlugin{"--plugin", "FILE", "one more plugin"},
    kModel{"--model", "FILE", "a model to try it on, too; repeatable"},
    kCall{"--call", "CALL",
          "an operator to try it on, too; repeatable:\n"
          "    'acme::mlp(x=f32[4,8,32], w=f32[32,64], n=2, fast=true) -> f32[4,8,64]'"};

struct Subcommand {
  std::string_view name, operand, about;
  std::span<const Option> options;
};
constexpr std::array<Option, 3> kOfList{kPath, kPlugin, kOutput};
constexpr std::array<Option, 5> kOfCheck{kModel, kCall, kPath, kPlugin, kOutput};
constexpr std::array<Option, 2> kOfNew{kKind, kFolder};
constexpr std::array<Option, 1> kOfManifest{kOutput};

constexpr std::array<Subcommand, 6> kSubcommands{{
    {"list", "", "Lists the installed plugins and their capabilities.", kOfList},
    {"info", "NAME", "Lists a plugin's metrics, operators, formats, options and rights.", kOfList},
    {"check", "FILE",
     "Opens a library, compares it with its manifest and calls each of its callbacks.\n"
     "They are called in the sandbox, on a model of three operators and on the given models and\n"
     "operators. Status 5 if a check fails.",
     kOfCheck},
    {"new", "NAME", "Writes a project that builds a plugin, tests it and checks it.", kOfNew},
    {"manifest", "FILE",
     "Writes a library's manifest, which tmeter reads instead of opening the library.",
     kOfManifest},
    {"index",
     "FOLDER",
     "Combines the manifests of a folder in one file, FOLDER/plugins.index.\n"
     "tmeter then reads this file at its start.",
     {}},
}};

std::string usage(const Subcommand& s) {
  std::string out = "tmeter plugin " + std::string(s.name);
  if (!s.operand.empty()) out += " " + std::string(s.operand);
  return out;
}

std::string help_of(const Subcommand& s) {
  std::string out = "Usage: " + usage(s) + (s.options.empty() ? "" : " [options]") + "\n\n" +
                    std::string(s.about) + "\n";
  if (!s.options.empty()) out += "\n";
  for (const auto& o : s.options) {
    out += "  " + std::string(o.name) + " " + std::string(o.value) + "\n    " +
           std::string(o.text) + "\n";
  }
  return out;
}

std::string help_of_all() {
  std::string out = "Usage: tmeter plugin SUBCOMMAND [options]\n\n";
  for (const auto& s : kSubcommands) {
    out += "  " + usage(s).substr(std::string_view("tmeter plugin ").size()) + "\n    ";
    out += std::string(s.about.substr(0, s.about.find('\n'))) + "\n";
  }
  return out + "\n`tmeter plugin SUBCOMMAND --help` has the options of each.\n";
}

std::vector<std::string> names_of(std::span<const Option> options) {
  std::vector<std::string> out{"--help"};
  for (const auto& o : options) out.emplace_back(o.name);
  return out;
}

const Subcommand& subcommand(const std::string& name) {
  const auto at = std::ranges::find(kSubcommands, name, &Subcommand::name);
  if (at != kSubcommands.end()) return *at;
  const auto names = plugin_subcommands();
  throw Error(ErrorKind::kUsage, "`tmeter plugin " + printable(name) + "`: there are " +
                                     joined(Arguments(names.begin(), names.end())) +
                                     did_you_mean(name, names) +
                                     "; `tmeter plugin --help` explains them");
}

bool is_known(std::string_view option) {
  return std::ranges::any_of(kSubcommands, [&](const Subcommand& s) {
    return std::ranges::find(s.options, option, &Option::name) != s.options.end();
  });
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

void set(PluginArguments& out, std::string_view option, const std::string& value) {
  if (option == kOutput.name) out.output = value;
  if (option == kKind.name) out.kind = value;
  if (option == kPath.name) out.settings.plugin_paths.push_back(value);
  if (option == kPlugin.name) out.settings.plugin_files.push_back(value);
  if (option == kModel.name) out.models.push_back(value);
  if (option == kCall.name) out.calls.push_back(value);
}

}  // namespace

std::vector<std::string_view> plugin_subcommands() {
  std::vector<std::string_view> out;
  for (const auto& s : kSubcommands) out.push_back(s.name);
  return out;
}

PluginArguments plugin_arguments(const Arguments& arguments) {
  PluginArguments out;
  // Options may come before the subcommand they belong to.
  std::vector<std::pair<std::string, std::string>> given;
  Arguments words;
  bool help = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    help = help || is_help(a);
    if (is_help(a)) continue;
    if (!a.starts_with("-")) {
      words.push_back(a);
      continue;
    }
    const auto equals = a.find('=');
    const auto name = a.substr(0, equals);
    const bool has_value = equals != a.npos || i + 1 < arguments.size();
    given.emplace_back(name, equals != a.npos ? a.substr(equals + 1)
                             : has_value      ? arguments[++i]
                                              : "");
    if (!has_value && is_known(name)) throw Error(ErrorKind::kUsage, name + " needs a value");
  }
  if (help && words.empty()) return out.help = help_of_all(), out;
  const auto& s = subcommand(words.empty() ? "list" : words[0]);
  if (help) return out.help = help_of(s), out;
  const auto options = names_of(s.options);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(options, name) == options.end())
      throw Error(ErrorKind::kUsage, "unknown option '" + printable(name) + "' of `" + usage(s) +
                                         "`" + did_you_mean(name, options));
    set(out, name, value);
  }
  const size_t expected = s.operand.empty() ? 1 : 2;
  if (std::max<size_t>(words.size(), 1) != expected)
    throw Error(ErrorKind::kUsage,
                "`" + usage(s) + "` is expected" +
                    (words.size() > expected ? ", not more: " + printable(words[expected]) : "") +
                    "; `tmeter plugin " + std::string(s.name) + " --help` explains it");
  out.what = s.name;
  if (expected == 2) out.operand = words[1];
  return out;
}

}  // namespace tmeter::app
