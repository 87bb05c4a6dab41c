// profile: processor time, use of threads and hardware counters per operator, arithmetic and bytes
// per second, and the scaling of the model with threads.
#include <algorithm>
#include <tmeter/cpp/observer.hpp>

#include "counters.hpp"
#include "plugins/common/options.hpp"
#include "plugins/common/wording.hpp"
#include "scaling.hpp"

namespace {

using profile::Event;
using profile::Readings;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Graph;
using tmeter::ObserverCall;

constexpr int kMinRuns = 5, kScalingRounds = 5;

/// A column that is counted, or computed from counts and the operators' times.
struct Column {
  tmeter::MetricSpec spec;
  Event event = profile::kEventCount;  // the counted event
};

tmeter::MetricSpec counted(std::string_view id, std::string_view title,
                           std::string_view convention) {
  tmeter::MetricSpec m;
  m.id = id;
  m.title = title;
  m.flags = TMETER_METRIC_DETAIL;
  m.better = TMETER_BETTER_LOWER;
  m.convention = convention;
  return m;
}

tmeter::MetricSpec rate(std::string_view id, std::string_view title, std::string_view unit,
                        std::string_view convention, std::string_view weight = "op_time") {
  tmeter::MetricSpec m;
  m.id = id;
  m.title = title;
  m.unit = unit;
  m.unit_kind = unit.empty() ? TMETER_UNIT_RATIO : TMETER_UNIT_OTHER;
  m.aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN;
  m.better = TMETER_BETTER_HIGHER;
  m.convention = convention;
  m.weight = weight;
  return m;
}

tmeter::MetricSpec of_model(std::string_view id, std::string_view title, int32_t unit_kind,
                            std::string_view convention) {
  tmeter::MetricSpec m;
  m.id = id;
  m.title = title;
  m.unit_kind = unit_kind;
  m.axis = TMETER_AXIS_MODEL;
  m.aggregation = TMETER_AGGREGATE_NONE;
  m.better = TMETER_BETTER_NEITHER;
  m.convention = convention;
  return m;
}

tmeter::MetricSpec cpu_time() {
  auto m = counted("cpu_time", "processor time",
                   "median of the processor time of all threads of the process while the operator "
                   "runs; OpenMP threads that spin while they wait for work count, too");
  m.unit = "s";
  m.unit_kind = TMETER_UNIT_SECOND;
  return m;
}

const std::array<Column, 8> kCounted{{
    {cpu_time(), profile::kCpuTime},
    {counted("cycles", "cycles", "median of processor cycles in user space"), profile::kCycles},
    {counted("instructions", "instructions", "median of instructions in user space"),
     profile::kInstructions},
    {counted("cache_references", "cache references",
             "median of accesses to the last-level cache, as the processor counts them"),
     profile::kCacheReferences},
    {counted("cache_misses", "cache misses", "median of last-level cache accesses that miss"),
     profile::kCacheMisses},
    {counted("branch_misses", "branch misses", "median of mispredicted branches"),
     profile::kBranchMisses},
    {counted("context_switches", "context switches", "median of context switches"),
     profile::kContextSwitches},
    {counted("page_faults", "page faults", "median of page faults"), profile::kPageFaults},
}};

const std::array<tmeter::MetricSpec, 6> kRates{{
    rate("achieved_flops", "arithmetic/s", "FLOP/s",
         "(2 × MACs + other operations) / time; for a module, the mean over its time"),
    rate("achieved_bandwidth", "traffic/s", "B/s",
         "(bytes read + bytes written, as the plugin memory counts them) / time; above the memory "
         "bandwidth where caches serve them"),
    rate("of_roofline", "of roofline", "",
         "predicted time of the plugin roofline / time: the share of the speed that the hardware "
         "profile allows"),
    rate("thread_use", "use of threads", "", "processor time / (time × threads)"),
    rate("instructions_per_cycle", "IPC", "IPC", "instructions / cycles", "cycles"),
    rate("cache_hits", "cache hits", "", "1 - cache misses / cache references", "cache_references"),
}};

const std::array<tmeter::MetricSpec, 2> kScaled{{
    of_model("parallel_efficiency", "parallel efficiency", TMETER_UNIT_RATIO,
             "time on one thread / (threads × time on them), whole runs, for the largest number of "
             "threads"),
    of_model(
        "best_threads", "best threads", TMETER_UNIT_COUNT,
        "number of threads with which whole runs are fastest; fewer if more gain less than 2 %"),
}};

std::string_view all_ids() {
  static const std::string ids = [] {
    std::string out;
    for (const auto& c : kCounted) out += std::string(c.spec.id) + " ";
    for (const auto& m : kRates) out += std::string(m.id) + " ";
    for (const auto& m : kScaled) out += std::string(m.id) + " ";
    return out;
  }();
  return ids;
}

/// The requested columns.
int32_t threads_of(const ObserverCall& call) {
  const std::string text(call.fact("threads"));
  return std::max(static_cast<int32_t>(std::strtol(text.c_str(), nullptr, 10)), 1);
}

uint64_t median(std::vector<uint64_t>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Profile final : public tmeter::Observer {
 public:
  void begin(const Graph& graph, ObserverCall& call) override {
    operators_.resize(graph.nodes().size());
    call.want(TMETER_RUN_OPERATORS);
    if (!call.option_bool("scaling")) return;
    for (const auto n : profile::Scaling::counts(threads_of(call)))
      call.want(TMETER_RUN_WHOLE, n, kScalingRounds);
    measures_scaling_ = true;
  }

  void event(const tmeter_event& e, ObserverCall&) override {
    if (e.kind == TMETER_EVENT_OP_BEGIN) {
      before_ = counters_.read();
    } else if (e.kind == TMETER_EVENT_OP_END) {
      add(counters_.read(), operators_[tmeter::Node(e.node).index()]);
    } else if (e.kind == TMETER_EVENT_RUN_END && e.run == TMETER_RUN_OPERATORS) {
      ++runs_;
    } else if (e.kind == TMETER_EVENT_RUN_END && e.run == TMETER_RUN_WHOLE) {
      scaling_.add(e.threads, static_cast<double>(e.nanoseconds - e.since) * 1e-9);
    }
  }

  bool enough(ObserverCall&) override {
    return runs_ >= (measures_scaling_ ? std::max(kMinRuns, kScalingRounds) : kMinRuns);
  }

  void end(const Graph&, ObserverCall& call) override {
    for (size_t i = 0; i < operators_.size(); ++i) emit(operators_[i], i, call);
    emit_scaling(call);
    set_provenances(call);
  }

 private:
  using Deltas = std::array<std::vector<uint64_t>, profile::kEventCount>;

  void add(const Readings& after, Deltas& deltas) const {
    for (size_t i = 0; i < after.size(); ++i) {
      if (counters_.missing(static_cast<Event>(i)).empty())
        deltas[i].push_back(after[i] - std::min(before_[i], after[i]));
    }
  }

  void emit(Deltas& deltas, size_t node, const Call& call) const {
    for (const auto& c : kCounted) {
      if (!counters_.missing(c.event).empty()) continue;
      auto& values = deltas[c.event];
      if (values.empty()) {
        if (runs_ > 0) call.emit(c.spec.id, TMETER_AXIS_NODE, node, Cell::zero_by_rule());
        continue;
      }
      const auto value = median(values);
      const bool time = c.event == profile::kCpuTime;
      call.emit(c.spec.id, TMETER_AXIS_NODE, node,
                time ? Cell(static_cast<double>(value) * 1e-9)
                     : Cell(Count(static_cast<int64_t>(value))));
    }
  }

  void emit_scaling(const Call& call) const {
    if (scaling_.empty()) return;
    call.emit("best_threads", TMETER_AXIS_MODEL, 0, Count(scaling_.best()));
    if (const auto e = scaling_.efficiency(); e > 0)
      call.emit("parallel_efficiency", TMETER_AXIS_MODEL, 0, e);
    tmeter::Series series;
    series.id = "scaling";
    series.title = "time of whole runs by threads";
    series.x_title = "threads";
    series.y_title = "time";
    series.y_unit = "s";
    for (const auto& [threads, seconds] : scaling_.times()) {
      series.x.push_back(threads);
      series.y.push_back(seconds);
    }
    call.add(series);
  }

  void set_provenances(const ObserverCall& call) const {
    const auto stopped = std::string(call.stopped());
    const auto runs = plugins::count_of(static_cast<size_t>(runs_), "run") + " on " +
                      std::string(call.fact("threads")) + " threads" +
                      (stopped.empty() ? "" : "; the runs ended early: " + stopped);
    const auto measured = [&](std::string_view id, std::string_view missing) {
      const bool is = missing.empty() && runs_ > 0;
      call.set_provenance(id, is ? TMETER_PROVENANCE_MEASURED : TMETER_PROVENANCE_UNAVAILABLE,
                          missing.empty() ? runs : std::string(missing));
    };
    for (const auto& c : kCounted) measured(c.spec.id, counters_.missing(c.event));
    for (const auto& m : kRates) measured(m.id, missing_for(m.id));
    for (const auto& m : kScaled)
      measured(m.id, measures_scaling_
                         ? ""
                         : "--set profile.scaling=true runs the model on 1, 2, 4, … threads");
  }

  std::string_view missing_for(std::string_view id) const {
    if (id == "instructions_per_cycle") return counters_.missing(profile::kInstructions);
    if (id == "cache_hits") return counters_.missing(profile::kCacheReferences);
    return {};
  }

  profile::SystemCounters counters_;
  Readings before_{};
  std::vector<Deltas> operators_;
  profile::Scaling scaling_;
  int runs_ = 0;
  bool measures_scaling_ = false;
};

/// The values computed from counts, for one operator.
class Rates {
 public:
  Rates(const tmeter::Node& node, const Call& call) : node_(node), call_(call) {}

  /// Returns whether the operator was faster than its roofline.
  bool emit(double threads) const {
    const auto time = of("op_time");
    if (!time || *time <= 0) return nothing(), false;
    const auto macs = of("macs"), other = of("other_flops");
    if (macs && other) put("achieved_flops", (2 * *macs + *other) / *time);
    const auto read = of("read_bytes"), written = of("written_bytes");
    if (read && written) put("achieved_bandwidth", (*read + *written) / *time);
    const auto predicted = of("predicted_time");
    const bool faster = predicted && *predicted > *time;
    if (predicted) put("of_roofline", faster ? Cell::unavailable() : Cell(*predicted / *time));
    if (const auto cpu = of("cpu_time")) put("thread_use", *cpu / (*time * threads));
    ratio("instructions_per_cycle", "instructions", "cycles", false);
    ratio("cache_hits", "cache_misses", "cache_references", true);
    return faster;
  }

 private:
  std::optional<double> of(std::string_view metric) const {
    const auto cell = call_.read(metric, node_);
    return cell.known() ? std::optional(cell.real()) : std::nullopt;
  }
  void put(std::string_view id, Cell value) const {
    call_.emit(id, TMETER_AXIS_NODE, node_.index(), value);
  }
  void ratio(std::string_view id, std::string_view above, std::string_view below,
             bool complement) const {
    const auto a = of(above), b = of(below);
    if (a && b && *b > 0) put(id, complement ? 1 - *a / *b : *a / *b);
  }
  /// An operator that was never executed gets empty cells, so weighted means exclude it.
  void nothing() const {
    if (!call_.read("op_time", node_).is_zero_by_rule()) return;
    for (const auto& m : kRates) call_.emit(m.id, TMETER_AXIS_NODE, node_.index(), Cell());
  }

  const tmeter::Node& node_;
  const Call& call_;
};

/// Warns if operators are faster than their lower bound: the profile is of another machine, or its
/// rates are too low.
void report_faster(const std::vector<tmeter::Node>& faster, Call& call) {
  if (faster.empty()) return;
  constexpr size_t kNamed = 3;
  tmeter::Finding finding;
  finding.severity = TMETER_SEVERITY_WARNING;
  finding.rule = "faster-than-roofline";
  finding.text =
      std::to_string(faster.size()) + (faster.size() == 1 ? " operator was" : " operators were") +
      " faster than the least time on hardware profile '" + std::string(call.hardware_name()) + "'";
  for (size_t i = 0; i < faster.size(); ++i) {
    if (i < kNamed) finding.evidence += (i ? ", " : "") + plugins::place(faster[i]);
    finding.about(faster[i]);
  }
  if (faster.size() > kNamed)
    finding.evidence += " and " + std::to_string(faster.size() - kNamed) + " more";
  finding.action = "use the profile of this machine: `tmeter hardware measure`, --hardware auto";
  call.add(finding);
}

void derive_metrics(const Graph& graph, Call& call) {
  if (!call.read("op_time", TMETER_AXIS_MODEL, 0).known()) return;
  if (!call.read("predicted_time", TMETER_AXIS_MODEL, 0).known()) {
    call.set_provenance(
        "of_roofline", TMETER_PROVENANCE_UNAVAILABLE,
        "no predicted time: enable the plugin roofline and choose a profile with peak rates, "
        "for example --hardware auto");
  }
  const ObserverCall runs(call.handle());
  const auto threads = threads_of(runs);
  std::vector<tmeter::Node> faster;
  for (const auto node : graph.nodes())
    if (Rates(node, call).emit(threads)) faster.push_back(node);
  report_faster(faster, call);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.profile",
                       .version = "1.0.0",
                       .description = "Measured counters, use of threads and rates of operators",
                       .needs = "flops memory latency",
                   }),
                   [](tmeter::Registrar& r) {
                     for (const auto& c : kCounted) r.metric(c.spec);
                     for (const auto& m : kRates) r.metric(m);
                     for (const auto& m : kScaled) r.metric(m);
                     r.option(plugins::flag_option(
                         "scaling", false,
                         "run the model on 1, 2, 4, … threads, too, up to --threads"));
                     tmeter::observer<Profile>(r, "profile", all_ids());
                     r.analysis("rates",
                                "op_time cpu_time macs other_flops read_bytes written_bytes",
                                "achieved_flops achieved_bandwidth of_roofline thread_use "
                                "instructions_per_cycle cache_hits",
                                derive_metrics);
                   })
