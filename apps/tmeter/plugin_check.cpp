// `tmeter plugin check FILE`: a library is opened, compared with its manifest, and each of its
// callbacks is called, in the sandbox, on a model of three operators (sample.hpp). What crashes,
// ends or hangs the process is told by the supervisor, with the plugin's name.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <tmeter/cpp/dtype.hpp>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/schema.hpp>

#include "apps/tmeter/plugin_commands.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "apps/tmeter/sample.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/text.hpp"
#include "core/config/library_file.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"
#include "core/report/report.hpp"
#include "core/report/writing.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Clock = std::chrono::steady_clock;

constexpr double kMostToOpen = 2;  // milliseconds
constexpr unsigned kThreads = 2;
constexpr std::string_view kOpened = "while it was opened";

/// Takes what a writer writes and counts it.
class Counting final : public Outlet {
 public:
  explicit Counting(Outlet& messages) : messages_(messages) {}
  void message(std::string_view line) override { messages_.message(line); }
  void progress(uint64_t, uint64_t, std::string_view) override {}
  void progress_ended() override {}
  void runs_file(std::string_view) override {}
  void runs_model(std::string_view) override {}
  void report(size_t, std::string_view bytes) override { bytes_ += bytes.size(); }
  void report_whole(size_t) override {}
  size_t bytes() const { return bytes_; }

 private:
  Outlet& messages_;
  size_t bytes_ = 0;
};

std::string milliseconds(double value) {
  std::ostringstream out;
  out.precision(2);
  out << std::fixed << value << " ms";
  return out.str();
}

std::string shown(const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_INT) return std::to_string(n.i);
  std::ostringstream out;
  if (is_number(n)) out << real(n);
  return n.kind == TMETER_NUMBER_ZERO_BY_RULE ? "zero by rule"
         : n.kind == TMETER_NUMBER_IN_MODULE  ? "in the module's figure"
         : is_number(n)                       ? out.str()
                                              : "unknown";
}

/// The bytes a file of this loader begins with, from "magic:HEX"; empty when it says nothing of it.
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
  Check(const std::string& library, Worker& worker)
      : library_(library), worker_(worker), log_(0, &worker), weights_(sample_weights()) {
    settings_.plugin_files = {library};
  }

  Ending run() {
    open();
    describe_it();
    try_run();
    for (const auto& r : plugin_->offered.shape_rules) try_shape(r);
    for (const auto& c : plugin_->offered.op_classes) try_class(c);
    for (const auto& op : operators()) try_operator(op);
    for (const auto& w : plugin_->offered.writers) try_writer(str(w.name));
    for (const auto& l : plugin_->manifest.loaders) try_loader(l);
    say(bad_ ? "NOT FINE: " + std::to_string(bad_) + " of " + std::to_string(tried_) + " checks"
             : "fine: " + std::to_string(tried_) + " checks");
    worker_.report(0, out_.str());
    return {bad_ ? static_cast<int>(ErrorKind::kPlugin) : 0, {}, true, {}};
  }

 private:
  void say(const std::string& line) { out_ << line << "\n"; }
  void fine(const std::string& line) { ++tried_, say("  ok    " + line); }
  void bad(const std::string& line) { ++tried_, ++bad_, say("  BAD   " + line); }
  void note(const std::string& line) { say("  note  " + line); }

  void open() {
    registry_ = std::make_unique<Registry>(settings_, std::vector<Excluded>{}, &log_);
    plugin_ = &registry_->get(registry_->given_files().front());
    for (const auto& l : plugin_->manifest.loaders) {
      if (const auto magic = magic_of(l); !magic.empty())
        damaged_.try_emplace(magic, magic + "\n?\n");
    }
    enter_sandbox();
    start();
    plugins_ = registry_->open_with_needs({plugin_->manifest.id});
    fine("its tables, options and needs are sound");
  }

  void start() {
    const InsidePlugin inside(library_, kOpened, Opening::kWanted);
    const auto begin = Clock::now();
    started_ = start_plugin({plugin_->library, plugin_->file.get(), plugin_->known}, &log_);
    const auto offers = read_offers(*started_);
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    const auto said = describe(*started_, offers);
    say(said.id + " " + said.version + "  " + library_);
    const auto words = "opened in " + milliseconds(took.count());
    took.count() <= kMostToOpen ? fine(words)
                                : note(words + ", more than " + milliseconds(kMostToOpen));
    compare_manifest(said);
  }

  /// With what it declares, as in a run.
  void enter_sandbox() {
    auto rights = run_rights(settings_, {library_}, *registry_);
    if (!add_rights(rights, plugin_->manifest.rights))
      bad("it declares rights that are not known: " + plugin_->manifest.rights);
    worker_.enter_sandbox(rights);
  }

  void compare_manifest(const Manifest& said) {
    const auto path = library_ + ".toml";
    if (!std::filesystem::exists(path))
      return note(
          "no manifest beside it: tmeter opens it at every start; `tmeter plugin manifest "
          "FILE --output FILE.toml` writes one, tmeter_add_plugin() in CMake does");
    const auto manifest = read_manifest(path);
    if (!is_still(manifest.made_from, library_))
      return bad("its manifest is of another build of the library");
    same_offer(manifest, said) ? fine("its manifest says what it says")
                               : bad("its manifest says something else than the library");
  }

  void describe_it() {
    const auto& m = plugin_->manifest;
    if (m.description.empty()) note("it has no description");
    if (!m.rights.empty()) note("it may, beyond computing: " + m.rights);
    for (const auto& folder : m.library_folders) note("it is linked to libraries in " + folder);
    if (!plugin_->offered.tensor_analyses.empty())
      note("its tensor analyses are called from several threads at once");
  }

  /// The metrics, analyses, tensor analyses and module handlers, on two operators.
  void try_run() {
    const auto& o = plugin_->offered;
    if (o.metrics.empty() && o.analyses.empty() && o.tensor_analyses.empty() &&
        o.module_handlers.empty())
      return;
    const auto graph = sample_graph(nullptr);
    const MappedFile file(weights_.path());
    const TensorBytes tensors(file);
    Engine engine(*graph, plugins_, log_, &hardware_);
    engine.read_tensors(tensors, kThreads);
    try {
      results_ = engine.run();
      fine("runs on the built-in model");
    } catch (const Error& e) {
      return bad(e.what());
    }
    for (const auto& c : results_.columns) {
      if (c.plugin == plugin_->manifest.id)
        note(c.id + " of it: " + shown(c.cell(TMETER_AXIS_MODEL, 0)) + " " + c.unit);
    }
    for (const auto& f : results_.findings) {
      if (f.plugin == plugin_->manifest.id) note("finding: " + f.text);
    }
  }

  std::set<std::string> operators() const {
    std::set<std::string> out;
    for (const auto& h : plugin_->offered.op_handlers) {
      if (view(h.op) != "*") out.insert(str(h.op));
    }
    return out;
  }

  /// Names of arguments: those of the schema if it gives one, else what operators mostly have.
  SampleOperator sample_of(const std::string& op) const {
    for (const auto& r : plugin_->offered.shape_rules) {
      const auto schema = view(r.schema);
      if (schema.substr(0, schema.find('(')) != op) continue;
      SampleOperator out{op, {}};
      for (const auto name : schema_arguments(schema)) out.arguments.emplace_back(name);
      return out;
    }
    return {op, {"input", "self", "x", "other", "weight"}};
  }

  void try_operator(const std::string& op) {
    const auto sample = sample_of(op);
    const auto graph = sample_graph(&sample);
    std::vector<Plugin*> alone{plugin_};
    Engine engine(*graph, alone, log_, &hardware_);
    try {
      engine.run();
      fine("handles " + op);
    } catch (const PluginError& e) {
      bad(e.what());
    } catch (const Error& e) {
      note(op + " could not be tried on tensors of 4 × 4: " + e.what());
    }
  }

  void try_shape(const tmeter_shape_rule& rule) {
    const auto schema = view(rule.schema);
    const auto op = std::string(schema.substr(0, schema.find('(')));
    tmeter_builder builder;
    builder.call = &plugin_->call;
    builder.of_rule = true;
    const DimSpec four{4, 0};
    const auto arguments = schema_arguments(schema);
    std::vector<const tmeter_value*> values;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto id = builder.builder.value_tensor(TMETER_DTYPE_FLOAT32, {{four, four}});
      values.push_back(to_handle(builder.builder.peek(id)));
    }
    std::vector<tmeter_id> results(schema_results(schema));
    try {
      invoke(plugin_->call, "while giving the shape of " + op, [&](auto* call) {
        return rule.infer(call, values.data(), values.size(), &builder, results.data(),
                          results.size(), rule.user);
      });
      std::string given;
      for (const auto id : results) {
        const auto* value = builder.builder.peek(id);
        if (!value) return bad(op + ": its shape rule does not give all results");
        given += (given.empty() ? "" : " and ") + value_text(*value);
      }
      fine(op + " gives " + (given.empty() ? "nothing, as it says" : given));
    } catch (const PluginError& e) {
      bad(e.what());
    } catch (const Error& e) {
      note("the shape of " + op + " could not be tried on tensors of 4 × 4: " + e.what());
    }
  }

  void try_class(const tmeter_op_class& c) {
    const auto words = str(c.op) + " is said to do work of the class '" + str(c.name) + "'";
    const bool known = name_of(op_class_named(view(c.name))) == view(c.name);
    known ? fine(words) : bad(words + ", which tmeter does not know");
  }

  static std::string value_text(const Value& value) {
    if (value.kind != TMETER_VALUE_TENSOR) return "a value that is no tensor";
    return std::string(DType(value.dtype).code()) + shape_text(value.dims);
  }

  /// A report needs figures: those of the plugin, or else some of tmeter's own.
  void get_figures(const Graph& graph) {
    if (!results_.columns.empty()) return;
    std::vector<std::string> names;
    for (const auto& p : registry_->plugins()) {
      if (p->manifest.id == "org.tmeter.params" || p->manifest.id == "org.tmeter.flops")
        names.push_back(p->manifest.id);
    }
    results_ = Engine(graph, registry_->open_with_needs(names), log_, &hardware_).run();
  }

  void try_writer(const std::string& name) {
    const auto graph = sample_graph(nullptr);
    get_figures(*graph);
    Report report;
    report.graph = graph.get();
    report.results = std::move(results_);
    report.properties["tool.version"] = "check";
    report.properties["model.file"] = "sample";
    Counting counting(worker_);
    try {
      write_reports(*registry_, report, {{name, "sample"}}, {}, counting);
      counting.bytes()
          ? fine("--report " + name + " writes " + std::to_string(counting.bytes()) + " bytes")
          : note("--report " + name + " writes nothing");
    } catch (const Error& e) {
      // Such as a format of comparisons alone.
      e.kind() == ErrorKind::kUsage ? note("--report " + name + " refuses this report: " + e.what())
                                    : bad(e.what());
    }
    results_ = std::move(report.results);
  }

  /// A file that begins as its own do and is not one: refused in words, or read.
  void try_loader(const LoaderManifest& loader) {
    const auto magic = magic_of(loader);
    if (magic.empty()) return note("reads " + loader.title + "; not tried: its files are archives");
    note("reads " + loader.title);
    try {
      const tmeter_source source(damaged_.at(magic).path());
      const tmeter_request request{&source, false, {}};
      load_model(*registry_, request, {&log_, nullptr, nullptr});
      note("a damaged file was read without complaint");
    } catch (const Error& e) {
      e.kind() == ErrorKind::kModel ? fine(std::string("refuses a damaged file: ") + e.what())
                                    : bad(e.what());
    }
  }

  std::string library_;
  Worker& worker_;
  CallLog log_;
  Settings settings_;
  SampleFile weights_;
  std::map<std::string, SampleFile> damaged_;  // by what they begin with
  HardwareSource hardware_{kDefaultHardware, {data_folder() + "/hardware"}};
  std::shared_ptr<const StartedPlugin> started_;
  std::unique_ptr<Registry> registry_;
  Plugin* plugin_ = nullptr;
  std::vector<Plugin*> plugins_;
  Results results_;
  std::ostringstream out_;
  int tried_ = 0, bad_ = 0;
};

}  // namespace

Ending check_plugin(const std::string& library, Worker& worker) {
  add_report_interfaces();
  if (!worker.excluded().empty()) return {static_cast<int>(ErrorKind::kPlugin), {}, false, {}};
  return Check(library, worker).run();
}

}  // namespace tmeter::app
