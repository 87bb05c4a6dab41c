#include "apps/tmeter/command_line.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "apps/tmeter/input_spec.hpp"
#include "apps/tmeter/other_tools.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
namespace po = boost::program_options;
using core::Error;
using core::ErrorKind;
using Texts = std::vector<std::string>;

po::typed_value<Texts>* list(const char* name) {
  return po::value<Texts>()->composing()->value_name(name);
}
po::typed_value<std::string>* text(const char* name) {
  return po::value<std::string>()->value_name(name);
}

struct Options {
  po::options_description what{"What to compute", 96}, input{"The model", 96},
      run{"Running the model", 96}, show{"Reports", 96}, other{"Other", 96};
  Options() {
    what.add_options()("plugins,p", list("A,B,..."),
                       "default: params,flops,memory; or all; '-NAME' omits it")(
        "full", "every plugin that applies to the file and the run")(
        "set,s", list("NAME.KEY=VALUE"), "an option of a plugin, as in flops.convention=fvcore")(
        "hardware", text("NAME|FILE"), "machine for estimates, or auto (default: horowitz-45nm)")(
        "threads", text("N"), "threads that read weights (default: one for each core)")(
        "assert", list("EXPR"), "status 3 unless it holds: 'macs<=5G', 'coverage==100%'");
    run.add_options()("inference", "run the model: its time, throughput and memory")(
        "profile", "--inference with counters, threads, the system's load")(
        "device", text("NAME"), "cpu (default), cuda or cuda:1")(
        "input-file", list("[NAME=]FILE"), "values of an input: .npy, .safetensors or .pt")(
        "op-library", list("FILE"), "library with operators that LibTorch lacks")(
        "seed", text("N"), "seed of generated inputs and weights (default: 0)")(
        "run-for", text("TIME"), "time for all runs together, as in 30s (default: 10s)");
    input.add_options()("input,i", list("[NAME=]SHAPE[:DTYPE]"),
                        "8x3x224x224, ids=1x128:i64, [3x800x800,3x600x800]")(
        "bind,b", list("SYMBOL=N"), "size of a dynamic dimension, as in s77=8 or x.0=8")(
        "sweep", list("SYMBOL=N,N,..."), "totals at s77=1,8,64 or x.0=64..512:64; may occur twice")(
        "root", text("PATH"), "report of one module, by path (layer1.0) or id (5.1)")(
        "trust", "allow a TorchScript file to run code while it loads");
    show.add_options()("report,r", list("FORMAT[=FILE]"),
                       "text (default), json, ...; or only a file: report.md")(
        "by", text("WHAT"), "rows: module (default), operator, type, family or tensor")(
        "depth,d", text("N"), "levels of the module tree to show, or 'all'")(
        "columns", text("A,B,..."), "metrics to show, by id or title")(
        "only", text("WHAT"), "trainable: modules that hold trainable parameters")(
        "sort", text("METRIC"), "sort rows by this metric")("raw", "plain numbers without units")(
        "repr", "modules as PyTorch prints them: Conv2d(3, 64, ...)")(
        "no-fold", "show every repetition of identical modules")(
        "color", text("WHEN"), "auto, always or never")("open",
                                                        "the report as a page in the browser");
    other.add_options()("plugin", list("FILE"), "also load this plugin file")(
        "plugin-path", list("DIR"), "search this folder for plugins first")(
        "timeout", text("TIME"), "60, 500ms, 2min (default: none; for code in a file 60)")(
        "max-memory", text("SIZE"), "memory (default: half the machine's, at most 8GiB)")(
        "config", text("FILE"), "read options from a TOML file")(
        "quiet,q", "errors only; no report without --report")(
        "verbose,v", list("")->zero_tokens(), "print progress notes; reports explain each value")(
        "version,V", "print the version")("help,h", "print this text");
  }
  po::options_description visible() const {
    po::options_description all;
    all.add(what).add(input).add(run).add(show).add(other);
    return all;
  }
};

std::vector<std::string> long_names() {
  std::vector<std::string> names;
  const auto all = Options().visible();
  for (const auto& o : all.options()) names.push_back("--" + o->long_name());
  return names;
}

/// tmeter's message for Boost's error, with the nearest valid spelling.
[[noreturn]] void refuse(const po::error& e) {
  const std::string hint = ". `tmeter --help` lists all options.";
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&e)) {
    auto name = unknown->get_option_name();
    name = name.substr(0, name.find('='));
    if (!name.starts_with("-")) name = "--" + name;
    const auto ours = option_replacement(name);
    throw Error(ErrorKind::kUsage,
                "unknown option '" + name + "'" +
                    (ours.empty() ? did_you_mean(name, long_names()) + hint : ours));
  }
  if (const auto* with_name = dynamic_cast<const po::error_with_option_name*>(&e)) {
    throw Error(ErrorKind::kUsage, std::string(with_name->what()) + hint);
  }
  throw Error(ErrorKind::kUsage, e.what() + hint);
}

/// Refuses an empty value, which usually is an unset variable of the shell.
void require_values(const po::variables_map& map, const po::options_description& options) {
  for (const auto& [name, value] : map) {
    const auto* one = boost::any_cast<std::string>(&value.value());
    const auto* many = boost::any_cast<Texts>(&value.value());
    if (!(one && one->empty()) && !(many && std::ranges::count(*many, std::string()))) continue;
    if (options.find(name, false).semantic()->max_tokens() == 0) continue;  // a flag
    throw Error(ErrorKind::kUsage,
                name == "model"
                    ? "the name of a file is empty; is a variable of the shell not set?"
                    : "--" + name + ": the value is empty; is a variable of the shell not set?");
  }
}

po::variables_map parse(const Arguments& arguments) {
  try {
    const Options options;
    po::options_description all = options.visible();
    all.add_options()("model", po::value<Texts>())("index", "");  // only for `merge`
    all.add_options()("update", "")("why", "");                   // only for `budget`
    po::positional_options_description positional;
    positional.add("model", -1);
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::variables_map map;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
        map);
    require_values(map, all);
    return map;
  } catch (const po::error& e) {
    refuse(e);
  }
}

Texts texts(const po::variables_map& map, const char* name) {
  return map.count(name) ? map[name].as<Texts>() : Texts();
}

std::string one_of(const std::string& option, const std::string& value,
                   const std::vector<std::string>& allowed) {
  for (const auto& a : allowed) {
    if (a == value) return value;
  }
  throw Error(ErrorKind::kUsage, "--" + option + " " + value + ": " +
                                     (allowed.size() > 1 ? "one of " : "") + core::joined(allowed) +
                                     " is expected" + did_you_mean(value, allowed));
}

/// Cores this process may use.
unsigned core_count() {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<unsigned>(std::max(n, 1));
}

std::optional<unsigned> thread_count(std::string_view text) {
  unsigned n = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && n >= 1 && n <= 1024 ? std::optional(n) : std::nullopt;
}

/// The number in the variables of OpenMP and MKL (the first of a list such as "4,2"), else every
/// core. Only a run of the model refuses a variable that is not a number: an analysis does not
/// depend on it.
unsigned default_threads(bool runs) {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view text(value);
    if (const auto n = thread_count(text.substr(0, text.find(',')))) return *n;
    if (runs)
      throw Error(ErrorKind::kUsage,
                  std::string(name) + "='" + core::printable(text) +
                      "': a number from 1 to 1024 is expected; unset it, or give --threads");
  }
  return core_count();
}

unsigned parse_threads(const std::string& text) {
  const auto n = thread_count(text);
  if (!n)
    throw Error(ErrorKind::kUsage, "--threads " + text + ": a number from 1 to 1024 is expected");
  return *n;
}

core::Limits parse_limits(const po::variables_map& map) {
  core::Limits limits;
  limits.memory = map.count("max-memory")
                      ? core::parse_bytes("--max-memory", map["max-memory"].as<std::string>())
                      : core::default_max_memory();
  if (map.count("timeout"))
    limits.timeout = core::parse_seconds("--timeout", map["timeout"].as<std::string>());
  return limits;
}

/// Detects "--plugin=flops" in place of "--plugins=flops".
void require_plugin_file(const std::string& text) {
  const bool is_name = text.find_first_of("/.") == text.npos;
  if (is_name && access(text.c_str(), F_OK) != 0)
    throw Error(ErrorKind::kUsage,
                "--plugin " + text +
                    ": no such file; plugins that are installed are chosen with --plugins=" + text);
}

void fill_settings(const po::variables_map& map, core::Settings& s) {
  if (map.count("config")) s = core::read_settings(map["config"].as<std::string>());
  for (const auto& t : texts(map, "set")) core::add_set_option(s, t);
  Texts plugins;
  for (const auto& t : texts(map, "plugins")) {
    auto names = core::split(t, ", ");
    if (names.empty())
      throw Error(ErrorKind::kUsage, "--plugins " + t +
                                         ": names are expected, as in flops,energy; "
                                         "`tmeter plugin list` shows all");
    std::move(names.begin(), names.end(), std::back_inserter(plugins));
  }
  if (!plugins.empty()) s.plugins = plugins;
  if (map.count("full")) s.full = true;
  if (s.full) s.plugins.insert(s.plugins.begin(), "all");
  for (auto& t : texts(map, "plugin")) {
    require_plugin_file(t);
    s.plugin_files.push_back(std::move(t));
  }
  for (auto& t : texts(map, "plugin-path")) s.plugin_paths.push_back(std::move(t));
  if (auto reports = texts(map, "report"); !reports.empty()) s.reports = std::move(reports);
  if (map.count("hardware")) s.hardware = map["hardware"].as<std::string>();
}

/// Options about runs are an error without a run.
void require_run(const po::variables_map& map) {
  for (const char* option : {"device", "input-file", "op-library", "seed", "run-for"}) {
    if (map.count(option))
      throw Error(ErrorKind::kUsage, "--" + std::string(option) + " goes with --inference");
  }
}

/// Refuses pipes, which may block, and devices, which may have no end. A missing file is left to
/// its reader to report.
void require_regular_if_there(const std::string& path) {
  std::error_code missing;
  const auto type = std::filesystem::status(path, missing).type();
  if (missing || type == std::filesystem::file_type::regular ||
      type == std::filesystem::file_type::not_found)
    return;
  const bool is_folder = type == std::filesystem::file_type::directory;
  throw Error(ErrorKind::kUsage,
              "--input-file " + core::printable(path) +
                  (is_folder ? " is a folder; a file is expected"
                             : " is not a regular file; write its content into one"));
}

/// "x=input.npy", "input.npy"; a path may have '=' behind a '/'.
std::pair<std::string, std::string> parse_input_file(const std::string& text) {
  const auto equals = text.find('=');
  const bool named = equals != text.npos && text.find('/') > equals;
  const auto path = named ? text.substr(equals + 1) : text;
  if (path.empty() || (named && equals == 0))
    throw Error(ErrorKind::kUsage,
                "--input-file " + text + ": [NAME=]FILE is expected, as in x=image.npy");
  require_regular_if_there(path);
  return {named ? text.substr(0, equals) : std::string(), path};
}

uint64_t parse_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, seed);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    throw Error(ErrorKind::kUsage, "--seed " + text + ": a whole number is expected");
  return seed;
}

/// --full with --inference: all measuring plugins take part, and runs on fewer threads are
/// measured.
void measure_all(CommandLine& out) {
  out.running = RunMode::kProfile;
  out.settings.options["profile"].try_emplace(
      "scaling", core::Setting{.value = "true", .origin = std::string(core::kOfRuns)});
}

void fill_runs(const po::variables_map& map, CommandLine& out) {
  if (map.count("inference")) out.running = RunMode::kInference;
  if (map.count("profile")) out.running = RunMode::kProfile;
  if (out.running == RunMode::kNo) return require_run(map);
  if (out.settings.full) measure_all(out);
  auto& runs = out.runs;
  runs.threads = out.threads;
  // A run on a GPU has no memory limit unless the user sets --max-memory.
  runs.memory = map.count("max-memory") ? out.limits.memory : 0;
  if (map.count("device")) runs.device = map["device"].as<std::string>();
  if (map.count("seed")) runs.seed = parse_seed(map["seed"].as<std::string>());
  if (map.count("run-for"))
    runs.seconds = core::parse_seconds("--run-for", map["run-for"].as<std::string>());
  for (const auto& t : texts(map, "input-file")) runs.inputs.push_back(parse_input_file(t));
  runs.libraries = texts(map, "op-library");
  // The TorchScript loader and the prediction of a run's memory depend on the number of threads.
  const core::Setting threads{.value = std::to_string(std::min(runs.threads, 1024u)),
                              .origin = std::string(core::kOfRuns)};
  out.settings.options["torch-backend"].insert_or_assign("real-values", threads);
  out.settings.options["memory"].try_emplace("threads", threads);
  if (runs.libraries.empty()) return;
  // The TorchScript loader also needs the operators.
  std::string all;
  for (const auto& library : runs.libraries) all += (all.empty() ? "" : ":") + library;
  out.settings.options["torch-backend"].insert_or_assign(
      "op-library", core::Setting{.value = all, .origin = "--op-library"});
}

/// Whether the user's locale writes UTF-8. True without a locale, as in containers.
bool locale_has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
  }
  return true;
}

void fill_view(const po::variables_map& map, CommandLine& out) {
  for (const char* key : {"by", "depth", "only", "columns", "sort"}) {
    if (map.count(key)) out.view[key] = map[key].as<std::string>();
  }
  if (map.count("by"))
    one_of("by", out.view["by"], {"module", "operator", "type", "family", "tensor"});
  if (map.count("only")) {
    one_of("only", out.view["only"], {"trainable"});
    if (map.count("by") && out.view["by"] != "module")
      throw Error(ErrorKind::kUsage,
                  "--only is of modules and does not go with --by " + out.view["by"]);
  }
  if (map.count("depth")) {
    const auto& d = out.view["depth"];
    const bool number = !d.empty() && d.size() <= 4 && d.find_first_not_of("0123456789") == d.npos;
    if (!number && d != "all") {
      throw Error(ErrorKind::kUsage, "--depth " + d + ": a number of levels or 'all' is expected");
    }
  }
  for (const char* flag : {"raw", "repr", "no-fold"}) {
    if (map.count(flag)) out.view[flag] = "1";
  }
  if (out.settings.full) out.view["summary"] = "1";
  if (map.count("verbose") && !map.count("quiet")) out.view["verbose"] = "1";
  out.open = map.count("open") != 0;
  if (!locale_has_utf8())
    for (const char* plugin : {"text", "full-text", "diff"})
      out.settings.options[plugin].try_emplace(
          "ascii", core::Setting{.value = "true", .origin = std::string(core::kOfRuns)});
  if (map.count("color")) {
    const auto when = one_of("color", map["color"].as<std::string>(), {"auto", "always", "never"});
    out.color = when == "always"  ? core::ColorMode::kAlways
                : when == "never" ? core::ColorMode::kNever
                                  : core::ColorMode::kAuto;
  }
}

/// The command as a user would type it into a shell.
std::string command_text(const Arguments& arguments) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  std::string out = "tmeter";
  for (const auto& a : arguments) {
    out += ' ';
    if (!a.empty() && a.find_first_not_of(kPlain) == std::string::npos) {
      out += a;
      continue;
    }
    out += '\'';
    for (const char c : a) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

/// The first given option that changes values.
std::string model_option(const po::variables_map& map) {
  for (const char* option : {"plugins", "full", "input", "bind", "sweep", "trust", "hardware",
                             "threads", "inference", "profile"})
    if (map.count(option)) return "--" + std::string(option);
  return {};
}

/// Options of a single command.
void take_own_options(const po::variables_map& map, Command command, CommandLine& out) {
  const auto take = [&](const char* option, Command owner, const char* name) {
    if (map.count(option) && command != owner)
      throw Error(ErrorKind::kUsage,
                  "--" + std::string(option) + " goes with `tmeter " + name + "`");
    return map.count(option) != 0;
  };
  out.index = take("index", Command::kMerge, "merge");
  out.update = take("update", Command::kBudget, "budget");
  out.why = take("why", Command::kBudget, "budget");
}

/// The file or, for a comparison, the two files. `lists`: an option with a list of names is given.
void take_files(const Texts& files, Command command, bool lists, CommandLine& out) {
  if (command == Command::kBudget) {
    out.parts = files;
    return;
  }
  const bool two = command == Command::kDiff, many = command == Command::kMerge;
  const bool saved = command == Command::kShow || many;
  const std::string what = saved ? "saved report" : "model file";
  if (command == Command::kAnalyse) refuse_foreign_terms(files, lists);
  if (two && files.size() != 2) {
    throw Error(ErrorKind::kUsage, "two model files or saved reports are expected, got " +
                                       std::to_string(files.size()) +
                                       ": `tmeter diff BEFORE AFTER`");
  }
  if (files.empty())
    throw Error(ErrorKind::kUsage, "no " + what + " is given. `tmeter --help` shows how.");
  if (!two && !many && files.size() > 1) {
    throw Error(ErrorKind::kUsage,
                "one " + what + " is expected, got '" + files[0] + "' and '" + files[1] + "'" +
                    (saved ? "; `tmeter merge` joins several"
                           : "; `tmeter diff` compares two, `tmeter fleet` reads many"));
  }
  out.model = files.back();
  if (two) out.other = files.front();
  if (!many) return;
  out.model = files.front();
  out.parts = files;
}

}  // namespace

void refuse_model_options(const CommandLine& line) {
  if (!line.needs_model.empty())
    throw Error(ErrorKind::kUsage, line.needs_model +
                                       " needs the model: a saved report has the values it was "
                                       "made with");
}

std::pair<std::string, int64_t> parse_binding(const std::string& text) {
  const auto equals = text.find('=');
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(
      text.data() + (equals == std::string::npos ? text.size() : equals + 1), end, value);
  if (equals == 0 || parsed.ec != std::errc() || parsed.ptr != end) {
    throw Error(ErrorKind::kUsage, "--bind " + text + ": SYMBOL=N is expected, as in s77=8");
  }
  return {text.substr(0, equals), value};
}

CommandLine parse_command_line(const Arguments& arguments, Command command) {
  const auto map = parse(arguments);
  CommandLine out;
  out.command = command_text(arguments);
  out.help = map.count("help") != 0;
  out.version = map.count("version") != 0;
  out.trusted = map.count("trust") != 0;
  out.verbosity = map.count("quiet") ? -1 : static_cast<int>(map.count("verbose"));
  if (out.help || out.version) return out;
  out.needs_model = model_option(map);
  if (command == Command::kShow || command == Command::kMerge) refuse_model_options(out);
  take_own_options(map, command, out);
  if (map.count("config")) out.config = map["config"].as<std::string>();
  take_files(texts(map, "model"), command, map.count("plugins") || map.count("columns"), out);
  fill_settings(map, out.settings);
  // A configuration's full = true is for models.
  if (command == Command::kShow || command == Command::kMerge) out.settings.full = false;
  // A configuration's reports are of models.
  if (command == Command::kBudget && !map.count("report")) out.settings.reports.clear();
  fill_view(map, out);
  const bool runs = map.count("inference") != 0 || map.count("profile") != 0;
  out.threads = map.count("threads") ? parse_threads(map["threads"].as<std::string>())
                                     : default_threads(runs);
  out.limits = parse_limits(map);
  fill_runs(map, out);
  for (const auto& t : texts(map, "input")) {
    for (auto& request : parse_input_spec(t)) out.inputs.push_back(std::move(request));
  }
  for (const auto& t : texts(map, "bind")) out.bindings.push_back(parse_binding(t));
  for (const auto& t : texts(map, "sweep")) out.sweep.push_back(parse_sweep_spec(t));
  out.assertions = texts(map, "assert");
  if (map.count("root")) out.root = map["root"].as<std::string>();
  if (!out.root.empty() && out.running != RunMode::kNo && !out.sweep.empty())
    throw Error(ErrorKind::kUsage, "--root goes with --sweep or with --inference, not with both");
  const bool has_root = command == Command::kAnalyse || command == Command::kShow;
  if (!out.root.empty() && !has_root)
    throw Error(ErrorKind::kUsage, "--root goes with `tmeter MODEL` and `tmeter show REPORT.json`");
  return out;
}

const std::vector<std::pair<int, std::string_view>>& exit_statuses() {
  static const std::vector<std::pair<int, std::string_view>> all{{0, "fine"},
                                                                 {1, "internal error"},
                                                                 {2, "wrong usage"},
                                                                 {3, "an --assert does not hold"},
                                                                 {4, "the model cannot be read"},
                                                                 {5, "a plugin failed"},
                                                                 {6, "the model could not be run"},
                                                                 {130, "interrupted"}};
  return all;
}

std::vector<OptionText> option_texts() {
  const Options options;
  const std::pair<const char*, const po::options_description*> groups[] = {
      {"What to compute", &options.what},
      {"The model", &options.input},
      {"Running the model", &options.run},
      {"Reports", &options.show},
      {"Other", &options.other}};
  std::vector<OptionText> out;
  for (const auto& [title, group] : groups) {
    for (const auto& o : group->options()) {
      const auto short_name =
          o->canonical_display_name(po::command_line_style::allow_dash_for_short);
      const bool takes_value = o->semantic()->max_tokens() > 0;
      out.push_back({title, "--" + o->long_name(),
                     short_name.size() == 2 && short_name[0] == '-' ? short_name : "",
                     takes_value ? o->format_parameter() : "", o->description()});
    }
  }
  return out;
}

std::string help_text() {
  std::ostringstream out;
  out << "tmeter measures the cost and content of PyTorch model files (.pt2, TorchScript, "
         "checkpoint, "
         "safetensors).\n";
  for (const auto& c : usages()) {
    out << "  " << c.usage << std::string(36 - std::min<size_t>(35, c.usage.size()), ' ') << c.text
        << "\n";
  }
  out << Options().visible() << "Exit status: ";
  size_t column = 13;
  for (const auto& [status, meaning] : exit_statuses()) {
    const auto item = std::to_string(status) + " " + std::string(meaning) +
                      (status == exit_statuses().back().first ? "." : ",");
    if (column + item.size() > 96)
      out << "\n", column = 0;
    else if (column > 13)
      out << " ", ++column;
    out << item;
    column += item.size();
  }
  out << "\n";
  return out.str();
}

}  // namespace tmeter::app
