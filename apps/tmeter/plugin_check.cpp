// `tmeter plugin check FILE`: opens a library, compares it with its manifest and calls each of its
// callbacks in the sandbox, on a model of two operators (sample.hpp), on operators
// (check_operators.cpp) and on the user's models (check_models.cpp). The supervisor
// reports a crash, an exit or a hang with the plugin's name.
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "apps/tmeter/checks.hpp"
#include "apps/tmeter/plugin_commands.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "apps/tmeter/sample.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/text.hpp"
#include "core/config/pinned_library.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/library.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"
#include "core/process/process_state_snapshot.hpp"
#include "core/report/report.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Clock = std::chrono::steady_clock;

constexpr double kMaxOpenTime = 2;  // milliseconds
constexpr std::string_view kOpened = "while it was opened";

std::string milliseconds(double value) {
  std::ostringstream out;
  out.precision(2);
  out << std::fixed << value << " ms";
  return out.str();
}

/// The bytes a file of this loader begins with, from "magic:HEX"; empty for other conditions.
std::string magic_of(const LoaderManifest& loader) {
  constexpr std::string_view kMagic = "magic:";
  for (const auto& match : loader.matches) {
    for (const auto& condition : split(match.conditions, " ")) {
      if (condition.starts_with(kMagic))
        return bytes_of_hex(std::string_view(condition).substr(kMagic.size())).value_or("");
    }
  }
  return {};
}

class Check {
 public:
  Check(const CheckRequest& request, Worker& worker)
      : request_(request),
        library_(request.library),
        worker_(worker),
        log_(0, &worker),
        weights_(sample_weights()) {
    settings_ = request.settings;
    settings_.plugin_files.insert(settings_.plugin_files.begin(), library_);
    for (const auto& text : request.calls) calls_.push_back(parse_call(text));
  }

  Outcome run() {
    open();
    note_properties();
    const CheckedPlugin checked{*registry_, *plugin_, log_, hardware_, worker_, lines_};
    complete_for_runs(checked);
    try_sample(checked);
    OperatorCheck operators(*registry_, *plugin_, log_, hardware_, lines_);
    operators.try_all();
    for (const auto& call : calls_) operators.try_call(call);
    for (const auto& l : plugin_->manifest.loaders) try_loader(l);
    for (const auto& model : request_.models) try_model(checked, model);
    check_process_state();
    worker_.report(0, lines_.text());
    return {lines_.bad() ? static_cast<int>(ErrorKind::kPlugin) : 0, {}, true, {}};
  }

 private:
  void open() {
    require_sanitizer(library_);
    registry_ = std::make_unique<Registry>(settings_, std::vector<Excluded>{}, &log_);
    plugin_ = &registry_->get(registry_->given_files().front());
    for (const auto& l : plugin_->manifest.loaders) {
      if (const auto magic = magic_of(l); !magic.empty())
        damaged_.try_emplace(magic, magic + "\n?\n");
    }
    enter_sandbox();
    start();
    registry_->open_with_needs({plugin_->manifest.id});
    lines_.fine("its tables, options and needs are sound");
  }

  void start() {
    const PluginScope inside(library_, kOpened, OpenedFor::kRequested);
    const auto begin = Clock::now();
    started_ = start_plugin({plugin_->library, plugin_->file.get(), plugin_->has_manifest}, &log_);
    const auto offers = read_capabilities(*started_);
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    const auto described = describe(*started_, offers);
    lines_.add_line(described.id + " " + described.version + "  " + library_);
    const auto words = "opened in " + milliseconds(took.count());
    took.count() <= kMaxOpenTime ? lines_.fine(words)
                                 : lines_.note(words + ", more than " + milliseconds(kMaxOpenTime));
    compare_manifest(described);
  }

  /// Enters the sandbox with the plugin's declared rights, as in a run.
  void enter_sandbox() {
    std::vector<std::string> files{library_};
    files.insert(files.end(), request_.models.begin(), request_.models.end());
    auto rights = run_rights(settings_, files, *registry_);
    if (!add_rights(rights, plugin_->manifest.rights))
      lines_.bad("it declares unknown rights: " + plugin_->manifest.rights);
    worker_.enter_sandbox(rights);
    before_ = ProcessStateSnapshot::now();  // from here on only plugins change the process
  }

  void compare_manifest(const Manifest& described) {
    const auto path = library_ + ".toml";
    if (!std::filesystem::exists(path))
      return lines_.note(
          "no manifest beside it: tmeter opens it at every start; `tmeter plugin manifest "
          "FILE --output FILE.toml` writes one, tmeter_add_plugin() in CMake does");
    const auto manifest = read_manifest(path);
    if (!is_unchanged(manifest.made_from, library_))
      return lines_.bad("its manifest belongs to another build of the library");
    same_offer(manifest, described) ? lines_.fine("its manifest agrees with it")
                                    : lines_.bad("its manifest differs from the library");
  }

  void note_properties() {
    const auto& m = plugin_->manifest;
    if (m.description.empty()) lines_.note("it has no description");
    if (!m.rights.empty()) lines_.note("it may, beyond computing: " + m.rights);
    for (const auto& folder : m.library_folders)
      lines_.note("it is linked to libraries in " + folder);
    if (!plugin_->offered.tensor_analyses.empty())
      lines_.note("its tensor analyses are called from several threads at once");
  }

  /// The built-in model: everything beyond single operators.
  void try_sample(const CheckedPlugin& checked) {
    const auto& o = plugin_->offered;
    const auto graph = sample_graph();
    const bool takes_part = !o.metrics.empty() || !o.analyses.empty() ||
                            !o.tensor_analyses.empty() || !o.module_handlers.empty() ||
                            !o.observers.empty() || !o.executors.empty();
    std::optional<Results> results;
    if (takes_part)
      results = try_run(checked, *graph, TensorBytes(weights_file_), "the built-in model");
    if (o.writers.empty()) return;
    Report report;
    report.graph = graph.get();
    report.results =
        results && !results->columns.empty() ? std::move(*results) : own_values(*graph);
    report.properties["tool.version"] = "check";
    report.properties["model.file"] = "sample";
    for (const auto& w : o.writers) try_writer(checked, report, str(w.name));
  }

  /// A report needs values. If the plugin has none, tmeter's own plugins supply them.
  Results own_values(const Graph& graph) {
    std::vector<std::string> names;
    for (const auto& p : registry_->plugins()) {
      if (p->manifest.id == "org.tmeter.params" || p->manifest.id == "org.tmeter.flops")
        names.push_back(p->manifest.id);
    }
    return Engine(graph, registry_->open_with_needs(names), log_, &hardware_).run();
  }

  /// Reports changes of the process that the plugin left behind.
  void check_process_state() {
    const auto change = before_.change_since(plugin_->call.keeps_threads);
    change.empty()
        ? lines_.fine("leaves the process as it was: signals, timers, environment, threads, locale")
        : lines_.bad("plugin " + plugin_->manifest.id + " changes the process: " + change);
  }

  /// Tries a file with the right first bytes that is otherwise invalid: the loader must refuse it
  /// with a message, or read it.
  void try_loader(const LoaderManifest& loader) {
    const auto magic = magic_of(loader);
    if (magic.empty())
      return lines_.note("reads " + loader.title + "; not tried: its files are archives");
    lines_.note("reads " + loader.title);
    try {
      const tmeter_source source(damaged_.at(magic).path());
      const tmeter_request request{&source, false, {}};
      load_model(*registry_, request, {&log_, nullptr, nullptr});
      lines_.note("a damaged file was read without complaint");
    } catch (const Error& e) {
      e.kind() == ErrorKind::kModel
          ? lines_.fine(std::string("refuses a damaged file: ") + e.what())
          : lines_.bad(e.what());
    }
  }

  const CheckRequest& request_;
  std::string library_;
  Worker& worker_;
  CallLog log_;
  Settings settings_;
  SampleFile weights_;
  MappedFile weights_file_{weights_.path()};   // the first file makes the host handle SIGBUS
  std::map<std::string, SampleFile> damaged_;  // by their first bytes
  std::vector<OperatorCall> calls_;
  HardwareSource hardware_{kDefaultHardware, {data_folder() + "/hardware"}};
  ProcessStateSnapshot before_;
  std::shared_ptr<const PluginInstance> started_;
  std::unique_ptr<Registry> registry_;
  Plugin* plugin_ = nullptr;
  CheckLines lines_;
};

}  // namespace

Outcome check_plugin(const CheckRequest& request, Worker& worker) {
  add_report_interfaces();
  if (!worker.excluded().empty()) return {static_cast<int>(ErrorKind::kPlugin), {}, false, {}};
  return Check(request, worker).run();
}

}  // namespace tmeter::app
