// Runs the model for its observers (sdk abi/observer.h): warm-up, then rounds with one run of each
// kind that an observer wants, until all have enough or the time is up.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/execution/executor.hpp"
#include "core/execution/run_event_validator.hpp"
#include "core/execution/sampler.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {

// Decides when runs are steady: caches are filled, memory is allocated, clocks are high.

class WarmUp {
 public:
  /// Warm-up takes about a third of `seconds` at most.
  explicit WarmUp(double seconds) : seconds_(seconds) {}
  void add(double seconds);
  /// Whether the last three runs differ by less than 5 %, or the time is up.
  bool is_done() const;
  size_t runs() const { return runs_.size(); }
  /// Whether the first run exceeded the time for all runs.
  bool too_slow() const { return !runs_.empty() && runs_.front() > seconds_; }

 private:
  double seconds_, total_seconds_ = 0;
  std::vector<double> runs_;
};

/// An observer of a plugin of this run.
struct ObserverUse {
  Plugin* plugin;
  const tmeter_observer* observer;
};

class ModelRuns final : public RunsAccess {
 public:
  ModelRuns(Registry& registry, const TensorBytes& tensors, RunOptions options, CallLog& log);

  /// Does all runs and calls `end` of the observers, whose calls find this object in their context.
  /// `stopped`: the reason for an early end. Throws PluginError for an observer's failure,
  /// Error(kUsage) for options that cannot be met.
  void run(const Graph& graph, const std::vector<ObserverUse>& uses);

  /// Properties of the runs: "device", "weights", "rounds", …
  const std::map<std::string, std::string, std::less<>>& facts() const { return facts_; }
  std::string_view stopped() const override { return stopped_; }
  /// Whether Ctrl-C ended the runs.
  bool interrupted() const { return interrupted_; }

  // RunsAccess.
  void want(int32_t run, int32_t threads, int32_t rounds) override;
  void want_samples(uint64_t interval) override;
  std::string_view fact(std::string_view key) const override;
  void event(const tmeter_event& event) override;
  void report_fact(std::string_view key, std::string_view text) override;
  std::string_view weights(const Tensor* tensor) const override;

 private:
  /// A kind of run, its threads, and the number of rounds (0: all).
  struct Kind {
    int32_t run = 0;
    unsigned threads = 0;
    int32_t rounds = 0;
    bool is_like(const Kind& o) const { return run == o.run && threads == o.threads; }
  };
  struct ObserverState {
    explicit ObserverState(const ObserverUse& u) : use(u) {}
    ObserverUse use;
    std::vector<Kind> requested;
    uint64_t interval = 0;  // interval of samples, ns; 0: none
    tmeter_call sample_call;
    std::mutex mutex;  // guards calls while samples are taken
    bool wants(const Kind& kind) const;
  };

  void begin(const Graph& graph);
  void plan();
  void run_all(const Graph& graph);
  void warm_up();
  void run_rounds();
  void run_slow();
  void run_once(const Kind& kind);
  bool all_observers_done();
  void end(const Graph& graph);
  void stop(const std::string& why);
  Sampler::Task sample_task(ObserverState& state);
  template <class F>
  tmeter_status call(ObserverState& state, std::string_view doing, F&& f);

  void set_fact(std::string_view key, std::string text);

  Registry& registry_;
  const TensorBytes& tensors_;
  const RunOptions options_;
  CallLog& log_;
  const Graph* graph_ = nullptr;
  mutable std::mutex facts_mutex_;
  std::map<std::string, std::string, std::less<>> facts_;
  std::deque<std::string> replaced_;  // former values of facts
  std::deque<ObserverState> observers_;
  std::vector<Kind> kinds_;
  std::unique_ptr<Executor> executor_;
  ObserverState* starting_observer_ = nullptr;   // the observer whose `begin` is running
  const Kind* running_ = nullptr;                // kind of the current run
  std::vector<ObserverState*> event_receivers_;  // receive the current run's events
  std::optional<RunEventValidator> validator_;   // checks the current run's events
  bool preparing_ = false;                       // the executor prepares the model
  double last_seconds_ = 0;                      // duration of the last run
  bool slow_ = false;
  std::string stopped_;
  bool interrupted_ = false;
};

}  // namespace tmeter::core
