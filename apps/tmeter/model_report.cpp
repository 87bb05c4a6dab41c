#include "apps/tmeter/model_report.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <optional>

#include "apps/tmeter/measured_hardware.hpp"
#include "apps/tmeter/metric_names.hpp"
#include "apps/tmeter/plugin_choice.hpp"
#include "core/analysis/engine.hpp"
#include "core/analysis/requests.hpp"
#include "core/analysis/size_notes.hpp"
#include "core/base/error.hpp"
#include "core/base/mapped_file.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/decoders.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"
#include "core/report/part_report.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Metrics that are shown: without --columns all except details.
bool is_shown(const CommandLine& line, const Column& column) {
  const auto it = line.view.find("columns");
  if (it == line.view.end()) return (column.flags & TMETER_METRIC_DETAIL) == 0;
  const auto ids = split(it->second, ",");
  return std::any_of(ids.begin(), ids.end(),
                     [&](const auto& id) { return id == "all" || id == column.id; });
}

/// Fills `report.formulas` and the totals of `report.sweep`; both are empty if all sizes are fixed.
/// Needs the report's results.
void add_sizes(Report& report, const CommandLine& line, Graph& graph,
               const std::vector<Plugin*>& plugins, const HardwareSource& hardware) {
  if (graph.symbols().empty()) return;
  std::set<size_t> bound;
  for (const auto& [symbol, value] : line.bindings) bound.insert(graph.find_symbol(symbol));
  report.formulas = find_formulas(graph, {plugins, &hardware, report.results, bound,
                                          [&](const Column& c) { return is_shown(line, c); }});
  run_sweep(graph, report.sweep, plugins, &hardware);
}

HardwareSource hardware_source(const Settings& settings) {
  if (settings.measured_hardware) {
    HardwareSource source(*settings.measured_hardware);
    source.get();
    return source;
  }
  HardwareSource source(settings.hardware.empty() ? kDefaultHardware : settings.hardware,
                        {data_folder() + "/hardware"});
  if (!settings.hardware.empty()) source.get();  // a wrong name is an error even if nothing uses it
  return source;
}

tmeter_source open_source(const std::string& path) {
  try {
    return tmeter_source(path);
  } catch (const Error& e) {
    throw about_model(e, path);
  }
}

/// Metrics that the command line or the configuration names.
RequestedMetrics requested_metrics(const CommandLine& line) {
  RequestedMetrics requested;
  for (const char* key : {"columns", "sort"})
    if (const auto at = line.view.find(key); at != line.view.end()) requested.add_words(at->second);
  for (const auto& text : line.assertions) requested.add_words(text);
  for (const auto& [plugin, options] : line.settings.options)
    for (const auto& [key, setting] : options) requested.add_words(setting.value);
  const auto columns = line.view.find("columns");
  requested.all = columns != line.view.end() && columns->second == "all";
  return requested;
}

void fill_report(Report& report, const CommandLine& line, const LoadedModel& model,
                 const std::vector<Plugin*>& plugins, const HardwareSource& hardware,
                 const tmeter_source& source) {
  report.properties["tool.version"] = TMETER_VERSION;
  report.properties["command"] = line.command;
  report.properties["model.file"] = model.graph->property("file");
  report.properties["model.path"] = source.file.path();
  report.properties["model.size"] =
      std::to_string(source.is_folder() ? source.size() : source.file.bytes().size());
  if (hardware.was_used()) {
    report.properties["hardware"] = hardware.get().name;
    const auto& title = hardware.get().title;
    if (title.find(kWhileBusy) != title.npos)
      report.warnings.push_back(
          "the rates of hardware profile '" + printable(hardware.get().name) +
          "' are low, because they were measured on a busy machine (" +
          printable(title.substr(title.find(kWhileBusy) + kWhileBusy.size())) +
          "): `tmeter hardware measure` measures again");
  }
  if (const auto sizes = recomputed_shapes_note(*model.graph); !sizes.empty())
    report.properties["sizes"] = sizes;
  report.view = line.view;
  if (auto note = assumed_sizes_note(*model.graph); !note.empty())
    report.warnings.push_back(std::move(note));
  if (auto note = unmet_conditions_note(*model.graph); !note.empty())
    report.warnings.push_back(std::move(note));
  if (!report.sweep.warning.empty()) report.warnings.push_back(report.sweep.warning);
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

/// Refuses requests that a file with only weights cannot meet.
void require_operators(const CommandLine& line, const std::string& path, const Graph& graph) {
  if (graph.property("content") != "weights") return;
  const bool by_operator = line.view.contains("by") && line.view.at("by") == "operator";
  const bool running = line.running != RunMode::kNo;
  if (line.inputs.empty() && !by_operator && !running) return;
  throw Error(ErrorKind::kUsage,
              (by_operator                         ? "--by operator"
               : line.running == RunMode::kProfile ? "--profile"
               : running                           ? "--inference"
                                                   : "--input " + line.inputs.front().text) +
                  std::string(": ") + printable(path) +
                  " holds weights only; a .pt2 or TorchScript file has inputs and operators");
}

void require_model(const tmeter_source& source) {
  if (!is_saved_report(source.file.bytes())) return;
  const auto path = printable(source.file.path());
  throw Error(ErrorKind::kModel, path + ": this is a saved report; `tmeter show " + path +
                                     "` writes it in any format");
}

/// A second thread, if one can be started, describes the modules of a large graph while metrics are
/// computed. A failure recurs in the writer that needs the descriptions.
std::future<void> start_module_descriptions(const Report& report, unsigned threads) {
  constexpr size_t kMinOperators = 4096;
  const auto& graph = *report.graph;
  const bool is_worth_it = graph.nodes().size() >= kMinOperators && graph.symbols().empty();
  if (!is_worth_it || threads < 2 || activity().checks_process_state) return {};
  return std::async([&report] {
    try {
      report.module_descriptions();
    } catch (const std::exception&) {
    }
  });
}

/// Adds the properties of the measurements, and whether they were complete.
void add_measuring(Report& report, Session& session, const ModelRuns& runs) {
  for (const auto& [key, text] : runs.facts()) report.add_run_property(key, text);
  if (runs.stopped().empty()) return;
  report.add_run_property("stopped", runs.stopped());
  report.warnings.push_back("the runs of the model ended early: " + std::string(runs.stopped()));
  session.stopped(runs);
}

void add_run_facts(Report& report, Session& session, const std::vector<Plugin*>& plugins,
                   Session::Clock::time_point start) {
  std::string facts;
  for (const auto& f : session.sandbox()) facts += (facts.empty() ? "" : "; ") + f;
  report.properties["run.sandbox"] = facts;
  if (!sandbox_requested()) report.warnings.push_back("the sandbox is " + facts);
  for (const auto& f : session.note_failures(plugins))
    report.warnings.push_back(f + "; the rest of this report is without it");
  const std::chrono::duration<double> elapsed = Session::Clock::now() - start;
  report.properties["analysis.seconds"] = std::to_string(elapsed.count());
}

/// Removes a plugin's last progress line from the terminal.
void end_progress(const CallLog& log) {
  if (log.sink()) log.sink()->progress_ended();
}

}  // namespace

SavedReport open_report(const std::string& path) {
  activity().stage = Stage::kReading;
  const MappedFile file(path);
  if (const auto start = file.bytes().find_first_not_of(" \t\r\n");
      start == std::string_view::npos || file.bytes()[start] != '{')
    throw Error(
        ErrorKind::kModel,
        printable(path) +
            ": this is not a saved report, which is a JSON object; `tmeter MODEL` analyses a "
            "model, and `tmeter MODEL --report json=FILE` saves the report");
  try {
    return read_report(file.bytes());
  } catch (const Error& e) {
    throw Error(e.kind(), printable(path) + ": " + e.what());
  }
}

SavedReport report_of_model(Session& session, const std::string& path,
                            std::vector<std::string> names, Session::Clock::time_point start,
                            std::shared_ptr<const tmeter_source>* keep) {
  const auto& line = session.line();
  auto& registry = session.registry();
  auto& log = session.log();
  activity().stage = Stage::kReading;
  const std::shared_ptr<const tmeter_source> opened(new tmeter_source(open_source(path)));
  if (keep) *keep = opened;
  const auto& source = *opened;
  require_model(source);
  session.take_snapshot();
  session.forget_warnings();
  const auto hardware = hardware_source(line.settings);
  const tmeter_request request{&source, line.trusted, line.inputs};
  auto model = load_model(registry, request, {&log, nullptr, nullptr});
  end_progress(log);
  session.require_unchanged("while the model was read");
  require_operators(line, path, *model.graph);
  model.graph->bind(line.bindings);
  SavedReport out;
  auto& report = out.report;
  report.sweep = plan_sweep(*model.graph, line.sweep, line.bindings);  // refuse early
  std::optional<GraphPart> measured_part;
  if (!line.root.empty()) {
    auto part = part_of(*model.graph, find_module(*model.graph, line.root));
    // A run is of the whole model; its values are split afterwards.
    if (line.running != RunMode::kNo)
      measured_part = std::move(part);
    else
      model.graph = std::move(part.graph);
  }

  activity().stage = Stage::kAnalysing;
  append_unique(names, plugins_with_handlers(registry, *model.graph));
  sort_by_topic(names);
  auto plugins = registry.open_with_needs(names);
  sort_by_topic(plugins);
  require_metrics_of_run(session, plugins);
  choose_requested(plugins, requested_metrics(line));
  report.graph = model.graph.get();
  auto described = start_module_descriptions(report, line.threads);
  Decoders decoders(registry, *model.graph, log);
  const TensorBytes tensors(source.file, &decoders);
  Engine engine(*model.graph, plugins, log, &hardware);
  engine.allow_trials(*model.graph);
  engine.read_tensors(tensors, line.threads);
  std::optional<ModelRuns> runs;
  if (line.running != RunMode::kNo)
    engine.run_model(runs.emplace(registry, tensors, line.runs, log));
  try {
    report.results = engine.run();
    add_sizes(report, line, *model.graph, plugins, hardware);
  } catch (const PluginError&) {
    throw;
  } catch (const Error& e) {
    throw about_model(e, path);
  }
  end_progress(log);
  if (described.valid()) described.get();
  session.require_unchanged("while the model was analysed");
  report.warnings = log.warnings();
  fill_report(report, line, model, plugins, hardware, source);
  add_run_facts(report, session, plugins, start);
  if (runs) add_measuring(report, session, *runs);
  session.report_unused_settings();
  if (measured_part) {
    restrict_to_part(report, *measured_part);
    model.graph = std::move(measured_part->graph);
  }
  out.graph = std::move(model.graph);
  return out;
}

}  // namespace tmeter::app
