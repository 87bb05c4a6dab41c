// `tmeter [options] MODEL`: file → graph → metrics → report.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include "apps/tmeter/by_size.hpp"
#include "apps/tmeter/command_line.hpp"
#include "core/analysis/assertion.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Clock = std::chrono::steady_clock;

const std::vector<std::string> kDefaultPlugins{"params", "flops", "memory"};

/// The names of --plugins: the default set, "all", and "-NAME" resolved.
std::vector<std::string> chosen_plugins(Registry& registry, const std::vector<std::string>& asked) {
  const bool only_removals =
      std::all_of(asked.begin(), asked.end(), [](const auto& n) { return n.starts_with("-"); });
  std::vector<std::string> names = only_removals ? kDefaultPlugins : std::vector<std::string>();
  for (const auto& name : asked) {
    if (name == "all") {
      for (const auto& p : registry.plugins()) {
        if (!p->manifest.metrics.empty()) names.push_back(p->manifest.name);
      }
    } else if (name.starts_with("-")) {
      std::erase(names, registry.get(name.substr(1)).manifest.name);
    } else {
      names.push_back(registry.get(name).manifest.name);
    }
  }
  return names;
}

/// Plugins nobody named that handle an operator or module of this model: an in-house layer is
/// counted once its plugin lies in a plugin folder.
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
      names.push_back(p->manifest.name);
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
    const std::string text = e.what();
    throw Error(e.kind(), text.starts_with(path) ? text : path + ": " + text);
  }
}

void fill_report(Report& report, const CommandLine& line, const LoadedModel& model,
                 const std::vector<Plugin*>& plugins, const HardwareSource& hardware,
                 const CallLog& log) {
  report.properties["tool.version"] = TMETER_VERSION;
  report.properties["model.file"] = std::filesystem::path(line.model).filename().string();
  report.properties["model.path"] = line.model;
  report.properties["model.size"] = std::to_string(std::filesystem::file_size(line.model));
  if (hardware.was_used()) report.properties["hardware"] = hardware.get().name;
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

std::vector<ReportTarget> report_targets(Registry& registry, const Settings& settings) {
  std::vector<ReportTarget> targets;
  for (const auto& r : settings.reports) targets.push_back(parse_report_target(r));
  if (targets.empty()) targets.push_back({"text", ""});
  for (const auto& t : targets) find_writer(registry, t.format);  // refuse early
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

int analyse(const CommandLine& line, Clock::time_point start) {
  Registry registry(line.settings);
  if (line.verbosity >= 0) {
    for (const auto& problem : registry.problems())
      std::cerr << "tmeter: note: " << problem << "\n";
  }
  auto names = chosen_plugins(registry, line.settings.plugins);
  append_unique(names, registry.given_files());
  const auto targets = report_targets(registry, line.settings);
  std::vector<Assertion> assertions;
  for (const auto& text : line.assertions) assertions.push_back(parse_assertion(text));

  const auto source = open_source(line.model);
  CallLog log(line.verbosity);
  const auto hardware = hardware_source(line.settings);
  const tmeter_request request{&source, line.trusted, line.inputs};
  const auto model = load_model(registry, request, {&log, nullptr, nullptr});
  require_operators(line, *model.graph);
  model.graph->bind(line.bindings);
  Report report;
  report.sweep = plan_sweep(*model.graph, line.sweep, line.bindings);  // refuse early

  append_unique(names, handlers_wanted(registry, *model.graph));
  const auto plugins = registry.open_with_needs(names);
  report.graph = model.graph.get();
  const TensorBytes tensors(source.file);
  Engine engine(*model.graph, plugins, log, &hardware);
  engine.read_tensors(tensors, line.threads);
  report.results = engine.run();
  add_sizes(report, line, *model.graph, plugins, hardware);
  fill_report(report, line, model, plugins, hardware, log);
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  report.properties["analysis.seconds"] = std::to_string(elapsed.count());

  for (const auto& a : assertions)
    report.assertions.push_back(evaluate(a, *model.graph, report.results));
  write_reports(registry, report, targets, line.color);
  require_all(report.assertions);
  return 0;
}

}  // namespace

int analyse_command(const Arguments& arguments) {
  const auto start = Clock::now();
  const auto line = parse_command_line(arguments);
  if (line.help) return std::cout << help_text(), 0;
  if (line.version) return std::cout << "tmeter " << TMETER_VERSION << "\n", 0;
  add_plugin_host_interfaces();
  add_report_interfaces();
  return analyse(line, start);
}

}  // namespace tmeter::app
