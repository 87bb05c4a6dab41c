#include "core/execution/model_runs.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/error.hpp"
#include "core/base/interrupt.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {
namespace {
constexpr size_t kComparedRuns = 3, kMaxWarmUpRuns = 50;
constexpr double kMaxWarmUpSpread = 0.05, kMaxWarmUpShare = 1.0 / 3;
}  // namespace

void WarmUp::add(double seconds) {
  runs_.push_back(seconds);
  total_seconds_ += seconds;
}

bool WarmUp::is_done() const {
  if (runs_.empty()) return false;
  const double mean = total_seconds_ / static_cast<double>(runs_.size());
  if (total_seconds_ + mean > seconds_ * kMaxWarmUpShare || runs_.size() >= kMaxWarmUpRuns)
    return true;
  if (runs_.size() < kComparedRuns) return false;
  const auto [least, most] = std::minmax_element(runs_.end() - kComparedRuns, runs_.end());
  return *most <= *least * (1 + kMaxWarmUpSpread);
}

namespace {
using Clock = std::chrono::steady_clock;

constexpr int32_t kMaxRunThreads = 1024;
constexpr size_t kMaxRunKinds = 1000;               // most kinds of runs for one observer
constexpr uint64_t kMinSampleInterval = 1'000'000;  // ns

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string doing(const ObserverUse& use) {
  return "in observer '" + str(use.observer->name) + "'";
}

/// During its lifetime, a crash is attributed to the model, not to a plugin.
class RunningModel {
 public:
  RunningModel(HostSink* sink, std::string_view engine) : sink_(sink) {
    if (sink_) sink_->runs_model(engine);
  }
  ~RunningModel() {
    if (sink_) sink_->runs_model({});
  }
  RunningModel(const RunningModel&) = delete;
  RunningModel& operator=(const RunningModel&) = delete;

 private:
  HostSink* sink_;
};

/// Suspends RunningModel while an observer is called.
class ModelPauses {
 public:
  ModelPauses() : engine_(activity().engine) { activity().engine.clear(); }
  ~ModelPauses() { activity().engine = engine_; }
  ModelPauses(const ModelPauses&) = delete;
  ModelPauses& operator=(const ModelPauses&) = delete;

 private:
  decltype(Activity::engine) engine_;
};

}  // namespace

ModelRuns::ModelRuns(Registry& registry, const TensorBytes& tensors, RunOptions options,
                     CallLog& log)
    : registry_(registry), tensors_(tensors), options_(std::move(options)), log_(log) {
  facts_["device"] = options_.device;
  facts_["threads"] = std::to_string(options_.threads);
  facts_["seconds"] = std::to_string(options_.seconds);
}

bool ModelRuns::ObserverState::wants(const Kind& kind) const {
  return std::any_of(requested.begin(), requested.end(),
                     [&](const Kind& k) { return k.is_like(kind); });
}

/// Calls an observer. Sampling observers are never called by two threads at once.
template <class F>
tmeter_status ModelRuns::call(ObserverState& w, std::string_view what, F&& f) {
  std::unique_lock lock(w.mutex, std::defer_lock);
  if (w.interval) lock.lock();
  const ModelPauses pauses;
  return invoke(w.use.plugin->call, what, std::forward<F>(f));
}

void ModelRuns::want(int32_t run, int32_t threads, int32_t rounds) {
  if (!starting_observer_)
    throw Error(ErrorKind::kPlugin, "an observer requests its runs in `begin`");
  if (run < TMETER_RUN_WHOLE || run > TMETER_RUN_MEMORY)
    throw Error(ErrorKind::kPlugin, "runs of kind " + std::to_string(run) + " are not known");
  if (threads < 0 || threads > kMaxRunThreads || rounds < 0)
    throw Error(ErrorKind::kPlugin, "runs on " + std::to_string(threads) + " threads in " +
                                        std::to_string(rounds) + " rounds cannot be made");
  if (starting_observer_->requested.size() >= kMaxRunKinds)
    throw Error(ErrorKind::kPlugin, "it requests more than 1,000 kinds of runs, tmeter's limit");
  starting_observer_->requested.push_back(
      {run, threads ? static_cast<unsigned>(threads) : options_.threads, rounds});
}

void ModelRuns::want_samples(uint64_t interval) {
  if (!starting_observer_ || !starting_observer_->use.observer->sample)
    throw Error(ErrorKind::kPlugin, "an observer requests samples in `begin`, and must take them");
  starting_observer_->interval = std::max(interval, kMinSampleInterval);
}

std::string_view ModelRuns::fact(std::string_view key) const {
  const std::lock_guard lock(facts_mutex_);  // samples are taken on another thread
  const auto it = facts_.find(key);
  return it == facts_.end() ? std::string_view() : it->second;
}

/// Keeps replaced strings, because a plugin may hold one during the runs.
void ModelRuns::set_fact(std::string_view key, std::string text) {
  const std::lock_guard lock(facts_mutex_);
  auto& fact = facts_[std::string(key)];
  if (fact == text) return;
  if (!fact.empty()) replaced_.push_back(std::move(fact));
  fact = std::move(text);
}

void ModelRuns::report_fact(std::string_view key, std::string_view text) {
  if (!preparing_)
    throw Error(ErrorKind::kPlugin, "facts of the runs are reported in `prepare` of an executor");
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  if (key.empty() || key.size() > plugin_limits::kTitleBytes ||
      key.find_first_not_of(kLetters) != key.npos)
    throw Error(ErrorKind::kPlugin, "'" + printable(key) + "' is not a key of a fact");
  if (facts_.size() >= plugin_limits::kFacts && !facts_.contains(key))
    throw Error(ErrorKind::kPlugin, "it reports more than 1,000 facts of the runs, tmeter's limit");
  set_fact(key, visible(text, plugin_limits::kTitleBytes));
}

std::string_view ModelRuns::weights(const Tensor* tensor) const {
  if (!preparing_) throw Error(ErrorKind::kPlugin, "an executor gets weights in `prepare`");
  if (!graph_ || !graph_->has(tensor))
    throw Error(ErrorKind::kPlugin,
                "it requests the weights of a tensor that the graph does not have");
  return tensors_.raw(*tensor);
}

/// Called by the executor in the middle of a run.
void ModelRuns::event(const tmeter_event& given) {
  if (!running_) throw Error(ErrorKind::kPlugin, "events belong to runs of the model");
  auto event = given.struct_size == sizeof given
                   ? given
                   : adopted(&given, TMETER_SIZE_1_1(tmeter_event), "its tmeter_event");
  event.struct_size = sizeof event;
  event.run = running_->run;
  event.threads = static_cast<int32_t>(running_->threads);
  if (event.kind < TMETER_EVENT_RUN_BEGIN || event.kind > TMETER_EVENT_FREE) return;
  validator_->check(event);
  if (event.kind == TMETER_EVENT_RUN_END && event.nanoseconds > event.since)
    last_seconds_ = static_cast<double>(event.nanoseconds - event.since) * 1e-9;
  for (auto* w : event_receivers_) {
    const auto* o = w->use.observer;
    call(*w, "in an event of a run", [&](tmeter_call* c) { return o->event(c, &event, o->user); });
  }
}

void ModelRuns::begin(const Graph& graph) {
  for (auto& w : observers_) {
    starting_observer_ = &w;
    const auto* o = w.use.observer;
    invoke(w.use.plugin->call, doing(w.use),
           [&](tmeter_call* c) { return o->begin(c, to_handle(&graph), o->user); });
    w.sample_call.plugin_id = w.use.plugin->call.plugin_id;
    w.sample_call.options = w.use.plugin->call.options;
    w.sample_call.run.log = &log_;
    w.sample_call.run.runs = this;
  }
  starting_observer_ = nullptr;
}

/// The kinds of run that observers request, each once.
void ModelRuns::plan() {
  for (const auto& w : observers_) {
    for (const auto& request : w.requested) {
      const auto same = std::find_if(kinds_.begin(), kinds_.end(),
                                     [&](const Kind& k) { return k.is_like(request); });
      if (same == kinds_.end()) {
        kinds_.push_back(request);
      } else {
        const bool always = same->rounds == 0 || request.rounds == 0;
        same->rounds = always ? 0 : std::max(same->rounds, request.rounds);
      }
    }
  }
  std::sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) {
    return std::pair(a.threads, a.run) < std::pair(b.threads, b.run);
  });
}

void ModelRuns::run_once(const Kind& kind) {
  if (Interrupt::requested()) throw Error(ErrorKind::kInterrupted, "interrupted");
  event_receivers_.clear();
  for (auto& w : observers_) {
    if (w.wants(kind)) event_receivers_.push_back(&w);
  }
  running_ = &kind;
  validator_.emplace(*graph_, kind.run);
  const auto start = Clock::now();
  last_seconds_ = 0;
  executor_->run(kind.run, kind.threads, *validator_);
  if (last_seconds_ == 0) last_seconds_ = seconds_since(start);
  running_ = nullptr;
}

void ModelRuns::warm_up() {
  WarmUp warm_up(options_.seconds);
  while (!warm_up.is_done()) {
    run_once({TMETER_RUN_WARM_UP, options_.threads, 0});
    warm_up.add(last_seconds_);
  }
  slow_ = warm_up.too_slow();
  set_fact("warm-up", std::to_string(warm_up.runs()));
}

/// If the warm-up of a slow model took all the time, runs it once more, with the most informative
/// kind of run.
void ModelRuns::run_slow() {
  const auto best =
      std::min_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const Kind& k) { return k.run == TMETER_RUN_OPERATORS ? 0 : k.run; };
        return rank(a) < rank(b);
      });
  run_once(*best);
  log_.add(
      TMETER_LOG_WARNING, "tmeter",
      "one run takes longer than the time for all runs (--run-for): it was run once more after "
      "the first, and some values are missing");
}

bool ModelRuns::all_observers_done() {
  bool all = true;
  for (auto& w : observers_) {
    const auto* o = w.use.observer;
    if (!o->enough) continue;
    call(w, doing(w.use), [&](tmeter_call* c) -> tmeter_status {
      const bool enough = o->enough(c, o->user) != 0;
      all = all && enough;
      return c->frame.error.empty() ? TMETER_OK : TMETER_INTERNAL;
    });
  }
  return all;
}

void ModelRuns::run_rounds() {
  if (kinds_.empty()) return;
  if (slow_) return run_slow();
  const auto start = Clock::now();
  int round = 0;
  do {
    for (const auto& kind : kinds_) {
      if (kind.rounds == 0 || round < kind.rounds) run_once(kind);
      if (round > 0 && seconds_since(start) > options_.seconds) break;
    }
    set_fact("rounds", std::to_string(++round));
    if (log_.sink()) log_.sink()->progress(static_cast<uint64_t>(round), 0, "rounds");
  } while (!all_observers_done() && seconds_since(start) < options_.seconds);
}

Sampler::Task ModelRuns::sample_task(ObserverState& w) {
  return {std::chrono::nanoseconds(w.interval), [&w] {
            const auto* o = w.use.observer;
            const auto now = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
            const std::lock_guard lock(w.mutex);
            invoke(w.sample_call, "in a sample", [&](tmeter_call* c) {
              return o->sample(c, static_cast<uint64_t>(now), o->user);
            });
          }};
}

void ModelRuns::stop(const std::string& why) {
  preparing_ = false;
  running_ = nullptr;
  stopped_ = why;
}

/// An error of the executor stops the runs. Earlier measurements are kept.
void ModelRuns::run_all(const Graph& graph) {
  try {
    preparing_ = true;
    executor_ = std::make_unique<Executor>(
        registry_, graph, options_, RunContext{&log_, nullptr, nullptr, &tensors_, &graph, this});
    preparing_ = false;
    std::vector<Sampler::Task> samples;
    for (auto& w : observers_) {
      if (w.interval) samples.push_back(sample_task(w));
    }
    Sampler sampler(std::move(samples));
    const RunningModel running(log_.sink(), executor_->name());
    warm_up();
    run_rounds();
    sampler.finish();
  } catch (const PluginError& e) {
    if (!executor_ || e.plugin() != executor_->plugin().manifest.id) throw;
    stop(e.what());
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kRun && e.kind() != ErrorKind::kInterrupted) throw;
    interrupted_ = e.kind() == ErrorKind::kInterrupted;
    if (interrupted_) Interrupt::answered();
    stop(e.what());
  }
}

void ModelRuns::end(const Graph& graph) {
  for (auto& w : observers_) {
    const auto* o = w.use.observer;
    invoke(w.use.plugin->call, doing(w.use),
           [&](tmeter_call* c) { return o->end(c, to_handle(&graph), o->user); });
  }
}

void ModelRuns::run(const Graph& graph, const std::vector<ObserverUse>& uses) {
  graph_ = &graph;
  for (const auto& use : uses) observers_.emplace_back(use);
  begin(graph);
  plan();
  run_all(graph);
  end(graph);
  executor_.reset();
}

}  // namespace tmeter::core
