// The engine: runs the metrics of the chosen plugins over a graph.
//
// Order: configure → numbers inside tensors, streamed → module handlers → node handlers (lazily,
// one metric may read another) → analyses in the order of what they require → roll-ups → coverage.
// One engine serves one run; it is used from one thread.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/analysis/handlers.hpp"
#include "core/analysis/results.hpp"
#include "core/analysis/tensor_stream.hpp"

namespace tmeter::core {

class Engine final : private ResultsAccess {
 public:
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

  /// Throws Error naming plugin, metric and node when something fails.
  Results run();

  /// Only those metrics that handlers answer for nodes, and of them the `wanted`; no analyses, no
  /// coverage. May be called again when the graph's sizes have changed; not beside `run`.
  const Results& run_nodes(const std::function<bool(const Column&)>& wanted);

 private:
  enum class Stage : uint8_t { kWaiting, kRunning, kDone };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Pass {
    Plugin* plugin;
    const tmeter_analysis* analysis;
    std::vector<std::string> required, produced;
    Stage stage = Stage::kWaiting;
  };
  struct Frame {
    Column* column;
    tmeter_number value{};
    bool emitted = false;
  };
  /// A handler at work; it is gone, too, when the handler fails.
  class FrameOf {
   public:
    FrameOf(Engine& engine, Column& column) : frames_(engine.frames_) {
      frames_.push_back({&column});
    }
    ~FrameOf() { frames_.pop_back(); }
    FrameOf(const FrameOf&) = delete;
    FrameOf& operator=(const FrameOf&) = delete;

   private:
    std::vector<Frame>& frames_;
  };

  void collect_columns();
  void forget_nodes();
  void collect_passes();
  void configure();
  void run_module_handlers(size_t column);
  void evaluate_all(size_t column);
  tmeter_number evaluate(size_t column, const Node& node);
  tmeter_number ask_handlers(size_t column, const Node& node);
  void finish_column(size_t column);
  void run_pass(Pass& pass);
  void require_metric(const std::string& id);
  void stream_tensors();
  void mark_unreadable(const TensorStream& stream);
  void note_override(const Column& column, const Plugin& by, const Plugin* of, std::string_view op);
  void tell_overrides();
  size_t column_index(std::string_view id) const;  // kNone when absent
  Column& column_at(std::string_view id);
  Column& own_column(std::string_view id, std::string_view plugin);
  bool is_produced(const std::string& id) const;  // by an analysis
  bool is_node_metric(const Column& c) const { return c.axis == TMETER_AXIS_NODE; }
  template <class F>
  tmeter_status call_plugin(Plugin& plugin, std::string_view doing, F&& f);
  /// What a handler gives; nothing when it declines.
  template <class F>
  std::optional<tmeter_number> ask(Plugin& plugin, Column& column, std::string_view doing, F&& f);

  // ResultsAccess: what plugins call while they run (engine_access.cpp).
  void emit(tmeter_number value) override;
  void emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
               std::string_view plugin) override;
  bool read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) override;
  void set_convention(std::string_view metric, std::string_view text,
                      std::string_view plugin) override;
  void set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                      std::string_view plugin) override;
  void add_finding(const tmeter_finding& finding, std::string_view plugin) override;
  void add_distribution(const tmeter_distribution& d, std::string_view plugin) override;
  void add_series(const tmeter_series& s, std::string_view plugin) override;

  const Graph& graph_;
  std::vector<Plugin*> plugins_;
  RunContext context_;
  std::vector<RunContext> before_;  // of the plugins' calls
  HandlerTable handlers_;
  Results results_;
  std::vector<Pass> passes_;
  std::vector<TensorUse> tensor_uses_;
  unsigned threads_ = 1;
  std::vector<std::vector<Stage>> node_stages_;   // per column and node
  std::vector<std::vector<bool>> covered_calls_;  // per column: answered by a module handler
  std::vector<uint8_t> finished_;                 // per column: rolled up
  std::vector<Frame> frames_;
  /// By whom, of which metric, in place of whom → operators and module types.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string_view>>
      overrides_;
};

}  // namespace tmeter::core
