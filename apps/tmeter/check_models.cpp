#include <tmeter/abi/executor.h>

#include <set>
#include <sstream>

#include "apps/tmeter/checks.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/decoders.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr uint64_t kOperator = 1000;  // ns
constexpr int64_t kBytes = 64;

struct SimulatedClock {
  const Graph* graph;
  uint64_t now = 1'000'000'000;
};

/// Reports events of one run until an observer fails.
class EventReporter {
 public:
  EventReporter(tmeter_call* call, SimulatedClock& clock) : call_(call), clock_(clock) {}
  tmeter_status status() const { return status_; }
  void report(int32_t kind, const Node* node = nullptr, int64_t bytes = 0, uint64_t since = 0) {
    if (status_ != TMETER_OK) return;
    tmeter_event event{};
    event.struct_size = sizeof event;
    event.kind = kind;
    event.nanoseconds = clock_.now;
    event.node = node ? to_handle(node) : nullptr;
    event.bytes = bytes;
    event.since = since;
    status_ = static_cast<const tmeter_events_api*>(events_interface())->event(call_, &event);
  }

 private:
  tmeter_call* call_;
  SimulatedClock& clock_;
  tmeter_status status_ = TMETER_OK;
};

tmeter_status prepare(tmeter_call* call, const tmeter_graph* graph, const tmeter_run_request*,
                      void** state, void*) {
  *state = new SimulatedClock{from_handle(graph)};
  const auto* api = static_cast<const tmeter_events_api*>(events_interface());
  return api->fact(call, core::to_abi("engine"), core::to_abi("a clock"));
}

tmeter_status run(tmeter_call* call, void* state, int32_t run, int32_t, void*) {
  auto& clock = *static_cast<SimulatedClock*>(state);
  const bool reports_operators = run == TMETER_RUN_OPERATORS || run == TMETER_RUN_MEMORY;
  EventReporter reporter(call, clock);
  const uint64_t begin = clock.now;
  int64_t taken = 0;
  reporter.report(TMETER_EVENT_RUN_BEGIN);
  for (const auto& node : clock.graph->nodes()) {
    const uint64_t since = clock.now;
    if (reports_operators) reporter.report(TMETER_EVENT_OP_BEGIN, &node);
    if (run == TMETER_RUN_MEMORY)
      reporter.report(TMETER_EVENT_ALLOCATE, &node, kBytes), taken += kBytes;
    clock.now += kOperator;
    if (reports_operators) reporter.report(TMETER_EVENT_OP_END, &node, 0, since);
  }
  if (taken > 0) reporter.report(TMETER_EVENT_FREE, nullptr, taken);
  reporter.report(TMETER_EVENT_RUN_END, nullptr, 0, begin);
  return reporter.status();
}

void release(void* state, void*) { delete static_cast<SimulatedClock*>(state); }

tmeter_status request_all_runs(tmeter_call* call, const tmeter_graph*, void*) {
  const auto* api = static_cast<const tmeter_runs_api*>(runs_interface());
  for (const int32_t kind : {TMETER_RUN_WHOLE, TMETER_RUN_OPERATORS, TMETER_RUN_MEMORY}) {
    if (const auto status = api->want(call, kind, 0, 1); status != TMETER_OK) return status;
  }
  return TMETER_OK;
}

/// An executor for the check of observers. It computes nothing; by its clock every operator takes 1
/// µs. In runs of memory each operator takes 64 bytes, which are freed at the end of the run.
const tmeter_executor& clock_executor() {
  static const tmeter_executor executor{
      sizeof executor, 0, core::to_abi("a clock"), prepare, run, release, nullptr};
  return executor;
}

/// An observer for the check of executors. It requests one run of each kind and keeps nothing.
const tmeter_observer& idle_observer() {
  static const tmeter_observer observer{
      sizeof observer,
      0,
      core::to_abi("tmeter"),
      {},
      request_all_runs,
      [](tmeter_call*, const tmeter_event*, void*) -> tmeter_status { return TMETER_OK; },
      nullptr,
      [](tmeter_call*, const tmeter_graph*, void*) -> tmeter_status { return TMETER_OK; },
      nullptr,
      nullptr};
  return observer;
}

constexpr std::string_view kClock = "a clock";
constexpr unsigned kThreadsOfCheck = 2;
constexpr double kSecondsOfRuns = 0.2;

std::string shown(const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_INT) return std::to_string(n.i);
  std::ostringstream out;
  if (is_number(n)) out << real(n);
  return n.kind == TMETER_NUMBER_ZERO_BY_RULE ? "zero by rule"
         : n.kind == TMETER_NUMBER_IN_MODULE  ? "in the module's value"
         : is_number(n)                       ? out.str()
                                              : "unknown";
}

/// An executor need not run this model.
void report_runs(const ModelRuns& runs, bool own_executor, const std::string& model,
                 CheckLines& lines) {
  if (!runs.stopped().empty())
    return lines.note("does not run " + model + ": " + std::string(runs.stopped()));
  lines.fine(own_executor ? "runs " + model + ": runs of each kind, events in order"
                          : "observes runs of " + model + ", by a clock of 1 µs an operator");
}

void report_results(const Results& results, const Plugin& plugin, CheckLines& lines) {
  for (const auto& c : results.columns) {
    if (c.plugin == plugin.manifest.id)
      lines.note(c.id + " of it: " + shown(c.cell(TMETER_AXIS_MODEL, 0)) + " " + c.unit);
  }
  for (const auto& f : results.findings) {
    if (f.plugin == plugin.manifest.id) lines.note("finding: " + f.text);
  }
}

/// The plugin, the plugins it requires, and the owners of the metrics that its handlers compute.
std::vector<Plugin*> required_plugins(const CheckedPlugin& checked) {
  std::set<std::string_view> metrics;
  for (const auto& h : checked.plugin.offered.op_handlers) metrics.insert(view(h.metric));
  for (const auto& h : checked.plugin.offered.module_handlers) metrics.insert(view(h.metric));
  std::set<std::string> ids{checked.plugin.manifest.id};
  for (const auto& p : checked.registry.plugins()) {
    if (p->library.empty() || !p->failure.empty()) continue;
    for (const auto& metric : p->manifest.metrics)
      if (metrics.contains(metric)) ids.insert(p->manifest.id);
  }
  return checked.registry.open_with_needs({ids.begin(), ids.end()});
}

/// The outcome of a file whose loader had one push refused.
struct PushOutcome {
  bool well = false;
  size_t pushes = 0;
  std::string failure;  // blamed on the plugin
};

PushOutcome load_with(const CheckedPlugin& checked, const tmeter_loader& loader,
                      const tmeter_request& request, size_t refuse_at) {
  tmeter_builder builder;
  builder.call = &checked.plugin.call;
  builder.source = request.source;
  builder.refuse_at = refuse_at;
  PushOutcome out;
  try {
    out.well = invoke(checked.plugin.call, "while reading the model", [&](tmeter_call* call) {
                 return loader.load(call, &request, &builder, loader.user);
               }) == TMETER_OK;
  } catch (const PluginError& e) {
    out.failure = e.what();
  } catch (const Error&) {
    // The loader blames the model, which is correct.
  }
  out.pushes = builder.pushes;
  return out;
}

/// Refuses each of the loader's pushes in turn, or a sample of many. A loader that continues after
/// a refusal returns a wrong model.
void refuse_pushes(const CheckedPlugin& checked, const tmeter_request& request,
                   const std::string& name) {
  constexpr size_t kMaxTries = 200;
  for (const auto& loader : checked.plugin.offered.loaders) {
    const auto whole = load_with(checked, loader, request, 0);
    if (!whole.well) continue;
    const size_t step = whole.pushes / kMaxTries + 1;
    for (size_t at = 1; at <= whole.pushes; at += step) {
      const auto tried = load_with(checked, loader, request, at);
      if (!tried.failure.empty()) return checked.lines.bad(tried.failure);
      if (tried.well)
        return checked.lines.bad("loader '" + str(loader.name) + "' reports success with " + name +
                                 ", although the builder refused its push " + std::to_string(at) +
                                 " of " + std::to_string(whole.pushes) + ": check every status");
    }
    checked.lines.fine("loader '" + str(loader.name) + "' reports every refusal of the builder: " +
                       std::to_string(whole.pushes) + " pushes");
  }
}

}  // namespace

void complete_for_runs(const CheckedPlugin& checked) {
  auto& o = checked.plugin.offered;
  if (o.executors.empty() && o.observers.empty()) return;
  for (const auto& p : checked.registry.plugins()) {
    if (p.get() != &checked.plugin) p->manifest.executors.clear();
  }
  if (o.executors.empty()) {
    o.executors.push_back(clock_executor());
    checked.plugin.manifest.executors.emplace_back(kClock);
  } else if (o.observers.empty()) {
    o.observers.push_back(idle_observer());
  }
}

std::optional<Results> try_run(const CheckedPlugin& checked, const Graph& graph,
                               const TensorBytes& tensors, const std::string& model) {
  auto& lines = checked.lines;
  const auto& executors = checked.plugin.manifest.executors;
  const bool own_executor = !executors.empty() && executors.front() != kClock;
  Engine engine(graph, required_plugins(checked), checked.log, &checked.hardware);
  engine.read_tensors(tensors, kThreadsOfCheck);
  std::optional<ModelRuns> runs;
  if (!executors.empty()) {
    RunOptions options;
    options.seconds = kSecondsOfRuns;
    engine.run_model(runs.emplace(checked.registry, tensors, options, checked.log));
  }
  try {
    auto results = engine.run();
    lines.fine("runs on " + model);
    if (runs) report_runs(*runs, own_executor, model, lines);
    report_results(results, checked.plugin, lines);
    return results;
  } catch (const PluginError& e) {
    lines.bad(e.what());
  } catch (const Error& e) {
    lines.bad("on " + model + ": " + e.what());
  }
  return std::nullopt;
}

void try_writer(const CheckedPlugin& checked, const Report& report, const std::string& name) {
  CountedReport counted(checked.sink);
  auto& lines = checked.lines;
  try {
    write_reports(checked.registry, report, {{name, "sample"}}, {}, counted);
    counted.bytes()
        ? lines.fine("--report " + name + " writes " + std::to_string(counted.bytes()) + " bytes")
        : lines.note("--report " + name + " writes nothing");
  } catch (const Error& e) {
    // Such as a format for comparisons only.
    e.kind() == ErrorKind::kUsage
        ? lines.note("--report " + name + " refuses this report: " + e.what())
        : lines.bad(e.what());
  }
}

void try_model(const CheckedPlugin& checked, const std::string& path) {
  auto& lines = checked.lines;
  const auto name = printable(path);
  try {
    const tmeter_source source(path);
    const tmeter_request request{&source, false, {}};
    const auto model = load_model(checked.registry, request, {&checked.log, nullptr, nullptr});
    if (model.loader == &checked.plugin) {
      lines.fine("reads " + name + ": " + std::to_string(model.graph->nodes().size()) +
                 " operators, " + std::to_string(model.graph->tensors().size()) + " tensors");
      refuse_pushes(checked, request, name);
    } else if (!checked.plugin.manifest.loaders.empty()) {
      lines.note(name + " is read by " + model.loader->manifest.id + ", not by this plugin");
    }
    Decoders decoders(checked.registry, *model.graph, checked.log);
    const TensorBytes tensors(source.file, &decoders);
    auto results = try_run(checked, *model.graph, tensors, name);
    if (!results) return;
    Report report;
    report.graph = model.graph.get();
    report.results = std::move(*results);
    report.properties["tool.version"] = "check";
    report.properties["model.file"] = path;
    for (const auto& w : checked.plugin.offered.writers) try_writer(checked, report, str(w.name));
  } catch (const PluginError& e) {
    lines.bad(e.what());
  } catch (const Error& e) {
    lines.bad(name + ": " + e.what());
  }
}

}  // namespace tmeter::app
