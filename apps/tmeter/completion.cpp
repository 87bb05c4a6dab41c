// `tmeter completion bash|zsh|fish`: a script for a shell, from the options and the installed
// plugins.
#include <algorithm>
#include <map>
#include <set>

#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/supervisor.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Words = std::vector<std::string>;

/// The words that may follow `tmeter`, and the words that may follow each of them.
std::map<std::string, Words> words_of_commands() {
  std::map<std::string, Words> out;
  for (const auto& c : commands()) out[std::string(c.name)] = Words(c.words.begin(), c.words.end());
  return out;
}

/// The values of an option: words, or else names of files.
std::map<std::string, Words> values(const Registry& registry) {
  std::set<std::string> plugins{"all"}, formats, metrics{"all", "none"}, options;
  for (const auto& p : registry.plugins()) {
    const auto& m = p->manifest;
    if (!m.metrics.empty()) plugins.insert(m.name);
    metrics.insert(m.metrics.begin(), m.metrics.end());
    for (const auto& key : m.options) options.insert(m.name + "." + key + "=");
    for (const auto& w : m.writers)
      if (!w.name.starts_with("diff-")) formats.insert(w.name);
  }
  const auto words = [](const std::set<std::string>& set) { return Words(set.begin(), set.end()); };
  auto hardware = hardware_names({data_folder() + "/hardware"});
  if (std::find(hardware.begin(), hardware.end(), "auto") == hardware.end())
    hardware.emplace_back("auto");
  return {{"--plugins", words(plugins)},
          {"--columns", words(metrics)},
          {"--sort", words(metrics)},
          {"--report", words(formats)},
          {"--set", words(options)},
          {"--hardware", hardware},
          {"--by", {"module", "operator", "type", "family", "tensor"}},
          {"--only", {"trainable"}},
          {"--color", {"auto", "always", "never"}},
          {"--device", {"cpu", "cuda"}},
          {"--depth", {"0", "1", "2", "3", "all"}}};
}

constexpr size_t kMaxListBytes = size_t{1} << 20;  // lists of words are long

/// In single quotes, for bash and zsh; names of plugins are not trusted.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : visible(text, kMaxListBytes))
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Words that need no quotes in any shell.
std::string plain_words(const Words& words) {
  std::string out;
  for (const auto& word : words) {
    const bool plain = word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_-.=") == word.npos;
    if (plain) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

Words names(const std::map<std::string, Words>& map) {
  Words out;
  for (const auto& [name, more] : map) out.push_back(name);
  return out;
}

std::string bash(const std::vector<OptionText>& options,
                 const std::map<std::string, Words>& after) {
  Words all, with_value;
  std::string cases;
  for (const auto& o : options) {
    all.push_back(o.name);
    if (!o.short_name.empty()) all.push_back(o.short_name);
    if (o.value.empty()) continue;
    const auto pattern = o.name + (o.short_name.empty() ? "" : "|" + o.short_name);
    const auto at = after.find(o.name);
    cases += "    " + pattern + ")\n" +
             (at == after.end() ? "      COMPREPLY=($(compgen -f -- \"$word\"))\n"
                                : "      _tmeter_words '" + plain_words(at->second) + "'\n") +
             (o.name == "--set" ? "      compopt -o nospace 2>/dev/null\n" : "") +
             "      return ;;\n";
  }
  for (const auto& [name, more] : words_of_commands())
    if (!more.empty())
      cases += "    " + name + ")\n      if [ \"$COMP_CWORD\" -eq 2 ]; then _tmeter_words '" +
               plain_words(more) + "'; return; fi ;;\n";
  return "# bash completion for tmeter: eval \"$(tmeter completion bash)\"\n"
         "_tmeter_words() {  # of a list between commas, the last item\n"
         "  local before=''\n"
         "  case $word in *,*) before=${word%,*}, ;; esac\n"
         "  COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${word##*,}\"))\n"
         "}\n"
         "_tmeter() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  if [ \"$word\" = = ]; then word=''\n"
         "  elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  case $previous in\n" +
         cases +
         "  esac\n"
         "  case $word in\n"
         "    -*) COMPREPLY=($(compgen -W '" +
         plain_words(all) +
         "' -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "       if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY+=($(compgen -W '" +
         plain_words(names(words_of_commands())) +
         "' -- \"$word\")); fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _tmeter tmeter\n";
}

/// A description inside of '[…]' or after ':'.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh(const std::vector<OptionText>& options, const std::map<std::string, Words>& after) {
  std::string specs;
  for (const auto& o : options) {
    const auto at = after.find(o.name);
    const auto action = at == after.end()   ? std::string("_files")
                        : o.name == "--set" ? "compadd -S \"\" - " + plain_words(at->second)
                        : o.value.find("...") != o.value.npos
                            ? "_sequence compadd - " + plain_words(at->second)
                            : "(" + plain_words(at->second) + ")";
    const auto value = o.value.empty() ? std::string() : ":" + zsh_text(o.value) + ":" + action;
    for (const auto& name : {o.short_name, o.name}) {
      if (name.empty()) continue;
      const bool is_long = name.starts_with("--") && !o.value.empty();
      specs +=
          "    " +
          shell_quoted("*" + name + (is_long ? "=" : "") + "[" + zsh_text(o.text) + "]" + value) +
          " \\\n";
    }
  }
  std::string cases;
  for (const auto& [name, more] : words_of_commands())
    if (!more.empty())
      cases += "    " + name + ") if (( CURRENT == 3 )); then compadd -- " + plain_words(more) +
               "; return; fi ;;\n";
  return "#compdef tmeter\n"
         "# zsh completion for tmeter: tmeter completion zsh > \"${fpath[1]}/_tmeter\"\n"
         "_tmeter() {\n"
         "  case ${words[2]} in\n" +
         cases +
         "  esac\n"
         "  if (( CURRENT == 2 )); then compadd -- " +
         plain_words(names(words_of_commands())) +
         "; fi\n"
         "  _arguments \\\n" +
         specs +
         "    '*:file:_files'\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _tmeter ]; then _tmeter \"$@\"; else compdef _tmeter tmeter; "
         "fi\n";
}

/// fish takes \' inside of single quotes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : visible(text, kMaxListBytes)) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const std::vector<OptionText>& options,
                 const std::map<std::string, Words>& after) {
  std::string out =
      "# fish completion for tmeter: tmeter completion fish | source\n"
      "function __tmeter_list  # of a list between commas, the last item\n"
      "  set -l before (commandline -ct | string replace -r '^--?[a-z-]+=' '' | string match -r "
      "'.*,')\n"
      "  for word in $argv; echo $before$word; end\n"
      "end\n";
  out += "complete -c tmeter -n __fish_use_subcommand -a '" +
         plain_words(names(words_of_commands())) + "'\n";
  for (const auto& [name, more] : words_of_commands())
    if (!more.empty())
      out += "complete -c tmeter -n '__fish_seen_subcommand_from " + name + "' -a '" +
             plain_words(more) + "'\n";
  for (const auto& o : options) {
    out += "complete -c tmeter -l " + o.name.substr(2);
    if (!o.short_name.empty()) out += " -s " + o.short_name.substr(1);
    const auto at = after.find(o.name);
    const bool is_list = o.value.find("...") != o.value.npos;
    if (at != after.end())
      out += std::string(" -x -a '") + (is_list ? "(__tmeter_list " : "") +
             plain_words(at->second) + (is_list ? ")'" : "'");
    else if (!o.value.empty())
      out += " -r";
    out += " -d " + fish_quoted(o.text) + "\n";
  }
  return out;
}

}  // namespace

int completion_command(const Arguments& arguments) {
  const auto& shells = find_command("completion")->words;
  const auto shell = arguments.size() == 1 ? arguments[0] : std::string();
  if (std::find(shells.begin(), shells.end(), shell) == shells.end())
    throw Error(ErrorKind::kUsage, "`tmeter completion` takes bash, zsh or fish" +
                                       (shell.empty() ? "" : did_you_mean(shell, shells)));
  add_plugin_host_interfaces();
  return supervise_command("", [&](Worker& worker) -> Outcome {
    const Registry registry(Settings(), worker.excluded());
    const auto options = option_texts();
    const auto after = values(registry);
    worker.report(0, shell == "bash"  ? bash(options, after)
                     : shell == "zsh" ? zsh(options, after)
                                      : fish(options, after));
    return {};
  });
}

}  // namespace tmeter::app
