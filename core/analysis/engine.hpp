// The engine runs the metrics of the chosen plugins over a graph.
//
// Order: configure → elements of tensors, streamed → runs of the model, observed → every metric →
// coverage. A metric is computed when something first needs it: module handlers, then operator
// handlers or the analyses that produce it, then its roll-ups. A reader always gets the final
// value, so the order of plugins does not matter. A metric that needs itself is an error.
// One engine serves one run, on one thread.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tmeter/cpp/text_hash.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/analysis/handlers.hpp"
#include "core/analysis/results.hpp"
#include "core/analysis/signatures.hpp"
#include "core/analysis/tensor_stream.hpp"
#include "core/execution/model_runs.hpp"

namespace tmeter::core {

class Engine final : private ResultsAccess {
 public:
  Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
         const HardwareSource* hardware);
  /// Restores the plugins' run contexts: engines nest.
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Makes `run` stream the elements of tensors, too, on this many threads.
  void read_tensors(const TensorBytes& tensors, unsigned threads) {
    context_.tensors = &tensors;
    threads_ = threads;
    for (auto* p : plugins_) p->call.run = context_;
  }

  /// Makes `run` run the model for the plugins that observe it. Without it, the results lack the
  /// columns of observers.
  void run_model(ModelRuns& runs) {
    context_.runs = &runs;
    runs_ = &runs;
    for (auto* p : plugins_) p->call.run = context_;
  }

  /// Lets analyses request values under other sizes of this graph (the engine's own), or under
  /// other options (abi/draft/trials.h).
  void allow_trials(Graph& graph) { trial_graph_ = &graph; }

  /// Throws Error naming plugin, metric and node when something fails.
  Results run();

  /// Computes the metrics that `selects` accepts: values of operator handlers, and values that an
  /// analysis gives for the whole model; no coverage. May be called again when the graph's sizes
  /// have changed, but not together with `run`.
  const Results& run_nodes(const std::function<bool(const Column&)>& selects);

 private:
  enum class Stage : uint8_t { kWaiting, kRunning, kDone };
  enum class CallState : uint8_t { kOpen, kAnswered, kInside };  // kInside: inside an answered call
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Analysis {
    Plugin* plugin;
    const tmeter_analysis* entry;
    std::vector<std::string> required, produced;
    Stage stage = Stage::kWaiting;
  };
  /// The value that handlers gave to operators of one signature, and how often they were called.
  struct SharedValue {
    tmeter_number value{};
    uint8_t calls = 0;
  };
  struct ColumnState {
    Stage modules = Stage::kWaiting;   // module handlers
    Stage complete = Stage::kWaiting;  // all cells, roll-ups included
    std::string doing;                 // "on metric 'macs'"
    HandlerTable::OfMetric* handlers = nullptr;
    std::vector<Stage> nodes;
    std::vector<CallState> calls;     // empty: no module handler was called
    std::vector<SharedValue> shared;  // by signature
    bool has_answered_calls = false;
    std::vector<size_t> analyses;  // analyses that produce it
    bool streamed = false;         // an analysis of tensors produces it
    bool observed = false;         // an observer of runs produces it
    bool unrequested = false;      // this run leaves it out (core/analysis/requests.hpp)
    double largest = 0;            // magnitude of the values that handlers gave
    const Plugin* largest_by = nullptr;
    bool is_produced() const { return streamed || observed || !analyses.empty(); }
  };
  /// A step of the computation, for finding cycles: a metric or an analysis.
  struct Step {
    const Column* column = nullptr;
    const Analysis* analysis = nullptr;
    bool operator==(const Step&) const = default;
  };
  class Computing;

  /// The result of a node's handlers.
  struct HandlerResult {
    tmeter_number value{};
    const Plugin* by = nullptr;  // null: no handler gave a value
    bool by_signature = true;    // all called handlers promise it
  };
  /// A plugin callback in progress.
  struct Callback {
    Column* column = nullptr;            // the metric of a handler
    const Node* node = nullptr;          // the node of an operator handler
    const ModuleCall* call = nullptr;    // the call of a module handler
    const Analysis* analysis = nullptr;  // the analysis
    tmeter_number value{};
    bool emitted = false;
  };
  class CallbackScope {
   public:
    CallbackScope(Engine& engine, const Callback& callback) : callbacks_(engine.callbacks_) {
      callbacks_.push_back(callback);
    }
    ~CallbackScope() { callbacks_.pop_back(); }
    CallbackScope(const CallbackScope&) = delete;
    CallbackScope& operator=(const CallbackScope&) = delete;

   private:
    std::vector<Callback>& callbacks_;
  };
  /// The amount that a plugin has reported in this run.
  struct ReportedAmounts {
    size_t findings = 0, targets = 0, text_bytes = 0, distributions = 0, series = 0, elements = 0;
  };

  /// The model's value of a column. Evaluates only the columns that it needs.
  tmeter_number total_of(size_t column);

  // Columns, their order and their sums (engine.cpp).
  void collect_columns();
  void collect_analyses();
  void require_useful_handlers() const;
  void configure();
  void forget_nodes();
  void require(size_t column);
  void run_analysis(Analysis& analysis);
  void roll_up(size_t column);
  void drop_absent_columns();
  [[noreturn]] void throw_cycle(const Step& step) const;
  [[noreturn]] void blame_overflow(const Column& column, const Error& overflow) const;
  size_t column_index(std::string_view id) const;  // kNone when absent
  size_t index_of(const Column& c) const {
    return static_cast<size_t>(&c - results_.columns.data());
  }
  Column& column_at(std::string_view id);
  Column* own_column(std::string_view id, std::string_view plugin);
  bool is_unrequested(std::string_view id, std::string_view plugin) const;
  static bool is_own_plugin(std::string_view id) { return id.starts_with("org.tmeter."); }
  static bool is_node_metric(const Column& c) { return c.axis == TMETER_AXIS_NODE; }

  // Operator handlers (engine_nodes.cpp).
  void evaluate_all(size_t column);
  tmeter_number evaluate(size_t column, size_t node);
  tmeter_number compute(size_t column, const Node& node);
  HandlerResult call_handlers(size_t column, const Node& node);
  const SharedValue* shared_value(size_t column, size_t node) const;
  void share(size_t column, const Node& node, const HandlerResult& result);
  void note_largest(const Column& column, const Plugin& by, const tmeter_number& value);
  void blame_implausible_value(const Node* node, const Error& error) const;
  void note_override(const Column& column, const Plugin& by, const Plugin* of, std::string_view op);
  void log_overrides();

  // Module handlers (engine_nodes.cpp).
  void answer_calls(size_t column);
  void call_module_handlers(size_t column);
  bool answer(size_t column, const ModuleCall& call);
  bool concerns(const ModuleCandidate& candidate, const ModuleCall* call);
  bool reads_own_inside(size_t column, size_t node) const;

  // Elements of tensors and runs of the model (engine_measured.cpp).
  void stream_tensors();
  void mark_unreadable(const TensorStream& stream);
  /// With -v: a line with the main values, once they are known.
  void log_tensor(const Tensor& tensor);
  void log_modules();
  std::string values_of(int32_t axis, size_t index) const;
  void observe_runs();
  void mark_unmeasured(const ObserverUse& use);

  /// The value that a handler gives; empty if it declines.
  template <class F>
  std::optional<tmeter_number> call_handler(Plugin& plugin, const Callback& callback,
                                            std::string_view doing, F&& f) {
    const CallbackScope scope(*this, callback);
    if (invoke(plugin.call, doing, std::forward<F>(f)) != TMETER_OK) return std::nullopt;
    if (!callbacks_.back().emitted)
      throw PluginError(plugin.manifest.id, std::string(doing), "it succeeds but gives no value");
    note_largest(*callback.column, plugin, callbacks_.back().value);
    return callbacks_.back().value;
  }

  // ResultsAccess: functions that running plugins call (engine_access.cpp).
  void emit(tmeter_number value) override;
  void emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
               std::string_view plugin) override;
  bool read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) override;
  void set_convention(std::string_view metric, std::string_view text,
                      std::string_view plugin) override;
  void set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                      std::string_view plugin) override;
  std::string_view op_class(const Node& node) override;
  void add_finding(const tmeter_finding& finding, std::string_view plugin) override;
  void add_distribution(const tmeter_distribution& d, std::string_view plugin) override;
  void add_series(const tmeter_series& s, std::string_view plugin) override;
  tmeter_status try_value(const Trial& trial, tmeter_number& out) override;  // engine_trials.cpp

  bool is_in_handler() const { return !callbacks_.empty() && callbacks_.back().column; }
  bool is_producing(size_t column) const;
  bool stays_within_signature(size_t column, int32_t axis, size_t index) const;
  void require_analysis(const char* what) const;
  ReportedAmounts& reported_by(std::string_view plugin);

  const Graph& graph_;
  std::vector<Plugin*> plugins_;
  RunContext context_;
  std::vector<RunContext> contexts_before_;  // by plugin
  HandlerTable handlers_;
  std::vector<uint32_t> signatures_;  // by node
  Results results_;
  std::unordered_map<std::string_view, size_t, TextHash> by_id_;  // columns
  std::vector<ColumnState> states_;                               // by column
  std::vector<Analysis> analyses_;
  std::vector<TensorUse> tensor_uses_;
  std::vector<ObserverUse> observer_uses_;
  ModelRuns* runs_ = nullptr;
  Graph* trial_graph_ = nullptr;  // null: no trials
  unsigned threads_ = 1;
  std::vector<Callback> callbacks_;
  std::vector<Step> computing_;
  std::map<std::string, ReportedAmounts, std::less<>> reported_;  // by plugin
  bool configured_ = false, streaming_ = false, observing_ = false;
  /// Plugin, metric and replaced plugin → operators and module types.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string_view>>
      overrides_;
};

/// Marks a step as being computed while it lives; without `done` the step is pending again. A step
/// that is being computed already depends on itself: a cycle.
class Engine::Computing {
 public:
  Computing(Engine& engine, Stage& stage, const Step& step) : engine_(engine), stage_(stage) {
    if (stage == Stage::kRunning) engine.throw_cycle(step);
    engine.computing_.push_back(step);
    stage = Stage::kRunning;
  }
  ~Computing() {
    engine_.computing_.pop_back();
    stage_ = done_ ? Stage::kDone : Stage::kWaiting;
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  void done() { done_ = true; }

 private:
  Engine& engine_;
  Stage& stage_;
  bool done_ = false;
};

}  // namespace tmeter::core
