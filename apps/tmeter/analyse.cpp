// `tmeter [options] MODEL`: file → graph → metrics → report.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <new>
#include <set>

#include "apps/tmeter/by_size.hpp"
#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "core/analysis/assertion.hpp"
#include "core/analysis/engine.hpp"
#include "core/analysis/worked_out.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"
#include "core/process/supervisor.hpp"
#include "core/process/surroundings.hpp"
#include "core/process/terminal.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Clock = std::chrono::steady_clock;

const std::vector<std::string> kDefaultPlugins{"org.tmeter.params", "org.tmeter.flops",
                                               "org.tmeter.memory"};

bool is_removal(const std::string& name) { return name.starts_with("-"); }

/// The ids of --plugins: the default set, "all", without those left out.
std::vector<std::string> chosen_plugins(Registry& registry, const std::vector<std::string>& asked) {
  std::vector<std::string> ids;
  const auto add = [&](std::string_view name) { ids.push_back(registry.get(name).manifest.id); };
  const auto is_there = [&](const std::string& id) {
    const auto& all = registry.plugins();
    return std::any_of(all.begin(), all.end(), [&](const auto& p) { return p->manifest.id == id; });
  };
  if (std::all_of(asked.begin(), asked.end(), is_removal)) {
    for (const auto& id : kDefaultPlugins) {
      if (asked.empty() || is_there(id)) add(id);
    }
  }
  for (const auto& name : asked) {
    if (is_removal(name)) continue;  // the registry has seen to it
    if (name != "all") add(name);
    for (const auto& p : registry.plugins()) {
      if (name == "all" && !p->manifest.metrics.empty()) ids.push_back(p->manifest.id);
    }
  }
  return ids;
}

/// The order of columns, and of everything else that plugins add, does not depend on the order in
/// which they are named: the default set first, the others by id.
void put_in_order(std::vector<std::string>& ids) {
  const auto rank = [](const std::string& id) {
    return std::find(kDefaultPlugins.begin(), kDefaultPlugins.end(), id) - kDefaultPlugins.begin();
  };
  std::sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
}

/// Plugins nobody named that handle an operator or module of this model: an in-house layer is
/// counted once its plugin lies in a plugin folder. Their ids.
std::vector<std::string> handlers_wanted(Registry& registry, const Graph& graph) {
  std::set<std::string_view> things;
  std::vector<std::string> names;
  const auto handles_something = [](const auto& p) {
    return !p->manifest.handles.empty() && !p->library.empty();
  };
  if (std::none_of(registry.plugins().begin(), registry.plugins().end(), handles_something))
    return names;
  for (const auto& n : graph.nodes()) things.insert(n.op);
  for (const auto* m : graph.modules()) {
    things.insert(m->type);
    things.insert(m->type.substr(m->type.rfind('.') + 1));
  }
  for (const auto& p : registry.plugins()) {
    const auto& handles = p->manifest.handles;
    if (std::any_of(handles.begin(), handles.end(),
                    [&](const auto& h) { return things.contains(h); })) {
      names.push_back(p->manifest.id);
    }
  }
  return names;
}

HardwareSource hardware_source(const Settings& settings) {
  HardwareSource source(settings.hardware.empty() ? kDefaultHardware : settings.hardware,
                        {data_folder() + "/hardware"});
  if (!settings.hardware.empty())
    source.get();  // a wrong name is an error even if nothing asks for it
  return source;
}

tmeter_source open_source(const std::string& path) {
  try {
    return tmeter_source(path);
  } catch (const Error& e) {
    throw about_model(e, path);
  }
}

void fill_report(Report& report, const CommandLine& line, const LoadedModel& model,
                 const std::vector<Plugin*>& plugins, const HardwareSource& hardware,
                 const CallLog& log, const MappedFile& file) {
  report.properties["tool.version"] = TMETER_VERSION;
  report.properties["command"] = line.command;
  report.properties["model.file"] = std::filesystem::path(line.model).filename().string();
  report.properties["model.path"] = line.model;
  report.properties["model.size"] = std::to_string(file.bytes().size());
  if (hardware.was_used()) report.properties["hardware"] = hardware.get().name;
  if (const auto sizes = worked_out_note(*model.graph); !sizes.empty())
    report.properties["sizes"] = sizes;
  report.view = line.view;
  report.warnings = log.warnings();
  if (!report.formulas.problem.empty()) report.warnings.push_back(report.formulas.problem);
  report.plugins.emplace_back(model.loader->manifest.id, model.loader->manifest.version);
  if (const auto* p = model.propagator)
    report.plugins.emplace_back(p->manifest.id, p->manifest.version);
  for (const auto* p : plugins) {
    report.plugins.emplace_back(p->manifest.id, p->manifest.version);
    for (const auto& [key, value] : p->options)
      report.config.emplace_back(p->manifest.name + "." + key, value.text);
  }
}

std::vector<ReportTarget> report_targets(const CommandLine& line) {
  std::vector<ReportTarget> targets;
  for (const auto& r : line.settings.reports) targets.push_back(parse_report_target(r));
  if (targets.empty()) targets.push_back({"text", ""});
  require_own_files(targets, line.model);
  return targets;
}

void append_unique(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const auto& n : more) {
    if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
  }
}

/// What a file of weights alone cannot give is refused, not passed over.
void require_operators(const CommandLine& line, const Graph& graph) {
  if (graph.property("content") != "weights") return;
  const bool by_operator = line.view.contains("by") && line.view.at("by") == "operator";
  if (line.inputs.empty() && !by_operator) return;
  throw Error(ErrorKind::kUsage,
              (by_operator ? "--by operator" : "--input " + line.inputs.front().text) +
                  std::string(": ") + printable(line.model) +
                  " holds weights only; a .pt2 or TorchScript file has inputs and operators");
}

/// Everything between the command line and the reports. Runs in the worker.
class Run {
 public:
  Run(const CommandLine& line, std::vector<ReportTarget> targets, const Screen& screen,
      Worker& worker, Clock::time_point start)
      : line_(line),
        targets_(std::move(targets)),
        screen_(screen),
        worker_(worker),
        start_(start),
        log_(line.verbosity, &worker),
        registry_(line.settings, worker.excluded(), &log_) {
    for (const auto& text : line.assertions) assertions_.push_back(parse_assertion(text));
  }

  Ending run() {
    require_unchanged("while plugins were looked for");
    tell_problems();
    auto names = chosen_plugins(registry_, line_.settings.plugins);
    append_unique(names, registry_.given_files());
    choose_writers(registry_, targets_, screen_.columns > 0);  // refuse early
    enter_sandbox(names);

    activity().stage = Stage::kReading;
    const auto source = open_source(line_.model);
    before_ = Surroundings::now();  // the sandbox and mapped files have their own signal handlers
    const auto hardware = hardware_source(line_.settings);
    const tmeter_request request{&source, line_.trusted, line_.inputs};
    const auto model = load_model(registry_, request, {&log_, nullptr, nullptr});
    require_unchanged("while the model was read");
    require_operators(line_, *model.graph);
    model.graph->bind(line_.bindings);
    Report report;
    report.sweep = plan_sweep(*model.graph, line_.sweep, line_.bindings);  // refuse early

    activity().stage = Stage::kAnalysing;
    append_unique(names, handlers_wanted(registry_, *model.graph));
    put_in_order(names);
    const auto plugins = registry_.open_with_needs(names);
    report.graph = model.graph.get();
    const TensorBytes tensors(source.file);
    Engine engine(*model.graph, plugins, log_, &hardware);
    engine.read_tensors(tensors, line_.threads);
    try {
      report.results = engine.run();
      add_sizes(report, line_, *model.graph, plugins, hardware);
    } catch (const PluginError&) {
      throw;
    } catch (const Error& e) {
      throw about_model(e, line_.model);
    }
    require_unchanged("while the model was analysed");
    fill_report(report, line_, model, plugins, hardware, log_, source.file);
    note_failures(plugins);
    add_run_facts(report);

    activity().stage = Stage::kWriting;
    for (const auto& a : assertions_)
      report.assertions.push_back(evaluate(a, *model.graph, report.results));
    write_reports(registry_, report, targets_, screen_, worker_);
    require_unchanged("while reports were written");
    require_all(report.assertions);
    const bool complete = failures_.empty();
    return {complete ? 0 : static_cast<int>(ErrorKind::kPlugin), "", true, {}};
  }

 private:
  void tell_problems() {
    for (const auto& problem : registry_.problems()) {
      if (line_.verbosity >= 0) worker_.message("note: " + problem);
    }
  }

  void enter_sandbox(const std::vector<std::string>& names) {
    auto rights = run_rights(line_, registry_);
    for (const auto* p : declared_rights(registry_, names, targets_)) {
      if (!add_rights(rights, p->manifest.rights)) {
        throw Error(ErrorKind::kPlugin,
                    "plugin " + p->manifest.id + " declares rights that are not known: '" +
                        p->manifest.rights + "'; known are network, files and processes");
      }
      if (line_.verbosity >= 0)
        worker_.message("note: plugin " + p->manifest.id +
                        " may use what it declares: " + p->manifest.rights);
    }
    sandbox_ = worker_.enter_sandbox(rights);
    if (line_.verbosity < 1) return;
    for (const auto& fact : sandbox_) worker_.message("sandbox: " + fact);
  }

  /// Plugins leave the process as they found it. Looked at now and then, it is not seen which one
  /// does not: the supervisor has the work done again, with a closer look (Activity::watchful).
  void require_unchanged(const std::string& when) const {
    const auto& all = registry_.plugins();
    const bool threads_may_stay =
        std::any_of(all.begin(), all.end(), [](const auto& p) { return p->call.keeps_threads; });
    const auto change = before_.change_since(threads_may_stay);
    if (!change.empty()) throw PluginError("", when, change);
  }

  /// Of the plugins that were to take part, those that do not.
  void note_failures(const std::vector<Plugin*>& plugins) {
    auto asked = plugins;
    for (const auto& t : targets_) asked.push_back(&find_writer(registry_, t.format));
    for (const auto* p : asked) {
      if (!p->failure.empty()) append_unique(failures_, {p->failure});
    }
  }

  void add_run_facts(Report& report) {
    std::string facts;
    for (const auto& f : sandbox_) facts += (facts.empty() ? "" : "; ") + f;
    report.properties["run.sandbox"] = facts;
    if (!sandbox_wanted()) report.warnings.push_back("the sandbox is " + facts);
    for (const auto& f : failures_)
      report.warnings.push_back(f + "; the rest of this report is without it");
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    report.properties["analysis.seconds"] = std::to_string(elapsed.count());
  }

  const CommandLine& line_;
  std::vector<ReportTarget> targets_;
  Screen screen_;
  Worker& worker_;
  Clock::time_point start_;
  CallLog log_;
  Surroundings before_ = Surroundings::now();
  Registry registry_;
  std::vector<Assertion> assertions_;
  std::vector<std::string> sandbox_;
  std::vector<std::string> failures_;  // in words
};

/// Memory that is not there is the model's doing unless a plugin is named: the path is said.
Ending run_on_model(const CommandLine& line, const std::function<Ending()>& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kModel, line.model + ": takes more memory than " +
                                       bytes_text(line.limits.memory) + " (--max-memory)");
  }
}

}  // namespace

int analyse_command(const Arguments& arguments) {
  const auto start = Clock::now();
  const auto line = parse_command_line(arguments);
  if (line.help) return Terminal::output(help_text()), 0;
  if (line.version) return Terminal::output("tmeter " TMETER_VERSION "\n"), 0;
  const auto targets = report_targets(line);
  const auto screen = this_screen(line.color);
  Job job{line.model, {}, line.limits, line.verbosity < 0, line.verbosity};
  for (const auto& t : targets) job.targets.push_back(t.file);
  add_plugin_host_interfaces();
  add_report_interfaces();
  return supervise(job, [&](Worker& worker) {
    return run_on_model(line, [&] { return Run(line, targets, screen, worker, start).run(); });
  });
}

}  // namespace tmeter::app
