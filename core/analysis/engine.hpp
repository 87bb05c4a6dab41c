// The engine: runs the metrics of the chosen plugins over a graph.
//
// Order: configure → numbers inside tensors, streamed → runs of the model, observed → every metric,
// each when it is first needed: its module handlers, then its node handlers or the analyses that
// produce it, then its roll-ups → coverage. Whatever reads a metric gets what it will be in the
// end, so the order of plugins does not matter; what needs itself is an error. One engine serves
// one run; it is used from one thread.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "core/analysis/adding_up.hpp"
#include "core/analysis/handlers.hpp"
#include "core/analysis/results.hpp"
#include "core/analysis/signatures.hpp"
#include "core/analysis/tensor_stream.hpp"
#include "core/execution/model_runs.hpp"

namespace tmeter::core {

class Engine final : private ResultsAccess {
 public:
  /// Operators from which on it pays to think of caches and second threads.
  static constexpr size_t kLarge = 4096;

  Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
         const HardwareSource* hardware);
  /// The plugins' calls are those of the engine before, if there is one: engines nest.
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Makes `run` look at the numbers inside tensors too, with so many threads.
  void read_tensors(const TensorBytes& tensors, unsigned threads) {
    context_.tensors = &tensors;
    threads_ = threads;
    for (auto* p : plugins_) p->call.run = context_;
  }

  /// Makes `run` run the model for the plugins that observe it. Without, what they would measure is
  /// no part of the results.
  void run_model(ModelRuns& runs) {
    context_.runs = &runs;
    runs_ = &runs;
    for (auto* p : plugins_) p->call.run = context_;
  }

  /// Throws Error naming plugin, metric and node when something fails.
  Results run();

  /// Only those metrics that handlers answer for nodes, and of them the `wanted`; no analyses, no
  /// coverage. May be called again when the graph's sizes have changed; not beside `run`.
  const Results& run_nodes(const std::function<bool(const Column&)>& wanted);

 private:
  enum class Stage : uint8_t { kWaiting, kRunning, kDone };
  enum class Answer : uint8_t { kNone, kGiven, kInside };  // of module handlers to a call
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Pass {
    Plugin* plugin;
    const tmeter_analysis* analysis;
    std::vector<std::string> required, produced;
    Stage stage = Stage::kWaiting;
  };
  /// What handlers gave to operators that are alike, and how often they were asked.
  struct Known {
    tmeter_number value{};
    uint8_t asked = 0;
  };
  /// How far a column is.
  struct Progress {
    Stage answered = Stage::kWaiting;  // module handlers were asked
    Stage finished = Stage::kWaiting;  // every cell is there, roll-ups included
    std::string doing;                 // "on metric 'macs'"
    HandlerTable::OfMetric* handlers = nullptr;
    std::vector<Stage> nodes;
    std::vector<Answer> calls;   // empty: none is answered
    std::vector<Known> known;    // by signature
    bool covers = false;         // some call is answered
    std::vector<size_t> passes;  // that produce it
    bool asked_all = false;      // handlers were asked about every node
    bool handed_over = false;    // to whoever adds up meanwhile
    bool added_up = false;       // its roll-ups are there before it is their turn
    bool streamed = false;       // produced by an analysis of tensors
    bool observed = false;       // produced by an observer of real runs
    double largest = 0;          // magnitude of what a handler gave
    const Plugin* largest_by = nullptr;
    bool unrequested = false;  // this run does without (core/analysis/requests.hpp)
    bool is_produced() const { return streamed || observed || !passes.empty(); }
  };
  /// What is being worked on, to tell circles: a metric, or an analysis.
  struct Step {
    const Column* column = nullptr;
    const Pass* pass = nullptr;
    bool operator==(const Step&) const = default;
  };
  class Working;

  /// What the handlers of a node gave.
  struct Given {
    tmeter_number value{};
    const Plugin* by = nullptr;  // null: none gave anything
    bool by_signature = true;    // so say all that were asked
  };
  /// A callback that is at work.
  struct Frame {
    Column* column = nullptr;          // of a handler
    const Node* node = nullptr;        // of an operator's handler
    const ModuleCall* call = nullptr;  // of a module handler
    const Pass* pass = nullptr;        // an analysis
    tmeter_number value{};
    bool emitted = false;
  };
  /// How much a plugin has said in a run.
  struct Said {
    size_t findings = 0, targets = 0, text_bytes = 0, distributions = 0, series = 0, numbers = 0;
  };
  /// It is gone, too, when the callback fails.
  class FrameOf {
   public:
    FrameOf(Engine& engine, Frame frame) : frames_(engine.frames_) { frames_.push_back(frame); }
    ~FrameOf() { frames_.pop_back(); }
    FrameOf(const FrameOf&) = delete;
    FrameOf& operator=(const FrameOf&) = delete;

   private:
    std::vector<Frame>& frames_;
  };

  void collect_columns();
  void forget_nodes();
  void collect_passes();
  void require_useful_handlers() const;
  void configure();
  void evaluate_all(size_t column);
  void evaluate_in_blocks();
  void evaluate_block(size_t column, std::span<const uint32_t> alike, size_t first);
  tmeter_number evaluate(size_t column, const Node& node);
  Given ask_handlers(size_t column, const Node& node);
  const Known* known_of(size_t column, const Node& node);
  void keep(size_t column, const Node& node, const Given& given);
  bool follows_signature(size_t column, int32_t axis, size_t index);
  void roll_up(size_t column);
  void produce_together();
  void add_up_meanwhile(size_t column);
  void help_to_add_up();
  void settle(size_t column);
  void try_to_add_up(size_t column);
  void add_up(Column& column);
  void note_largest(const Column& column, const Plugin& by, const tmeter_number& value);
  [[noreturn]] void blame_overflow(const Column& column, const Error& overflow) const;
  void blame_figure(const Node* node, const Error& error) const;
  size_t index_of(const Column& c) const {
    return static_cast<size_t>(&c - results_.columns.data());
  }
  void run_pass(Pass& pass);
  /// Until every cell of it is there.
  void require(size_t column);
  [[noreturn]] void tell_circle(const Step& step) const;

  // Module handlers (engine_modules.cpp).
  void answer_calls(size_t column);
  void ask_about_calls(size_t column);
  bool answer(size_t column, const ModuleCall& call);
  bool concerns(const ModuleCandidate& candidate, const ModuleCall* call);
  bool reads_own_inside(size_t column, const Node& node) const;

  void stream_tensors();
  void observe_runs();
  void mark_unmeasured(const ObserverUse& use);
  void drop_absent();
  void mark_unreadable(const TensorStream& stream);
  void note_override(const Column& column, const Plugin& by, const Plugin* of, std::string_view op);
  void tell_overrides();
  size_t column_index(std::string_view id) const;  // kNone when absent
  Column& column_at(std::string_view id);
  Column* own_column(std::string_view id, std::string_view plugin);
  bool is_unrequested(std::string_view id, std::string_view plugin) const;
  bool is_node_metric(const Column& c) const { return c.axis == TMETER_AXIS_NODE; }
  template <class F>
  tmeter_status call_plugin(Plugin& plugin, std::string_view doing, F&& f);
  /// What a handler gives; nothing when it declines.
  template <class F>
  std::optional<tmeter_number> ask(Plugin& plugin, const Frame& frame, std::string_view doing,
                                   F&& f);

  bool is_in_handler() const;
  bool is_emitting(size_t column) const;
  void require_analysis(const char* what) const;

  // ResultsAccess: what plugins call while they run (engine_access.cpp).
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

  Said& said_by(std::string_view plugin);

  const Graph& graph_;
  std::vector<Plugin*> plugins_;
  RunContext context_;
  std::vector<RunContext> before_;  // of the plugins' calls
  HandlerTable handlers_;
  Signatures signatures_;
  Results results_;
  std::unordered_map<std::string_view, size_t> by_id_;  // columns
  mutable std::array<size_t, 8> asked_last_{};          // of by_id_, by the length of the id
  std::vector<Pass> passes_;
  std::vector<TensorUse> tensor_uses_;
  std::vector<ObserverUse> observer_uses_;
  ModelRuns* runs_ = nullptr;
  unsigned threads_ = 1;
  std::vector<Progress> progress_;  // per column
  std::vector<Frame> frames_;
  std::vector<Step> at_work_;
  std::map<std::string, Said, std::less<>> said_;
  bool configured_ = false, streaming_ = false, observing_ = false;
  /// By whom, of which metric, in place of whom → operators and module types.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string_view>>
      overrides_;
  std::optional<AddingUp> adding_up_;  // goes first: it works on what is above
};

}  // namespace tmeter::core
