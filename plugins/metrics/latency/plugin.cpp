// latency: measured time of the model, its modules and its operators.
//
// Whole runs are timed without observing operators; operators are timed in runs of their own, which
// alternate with whole ones (abi/observer.h), so that the cost of observing is known and reported.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <tmeter/cpp/observer.hpp>

#include "plugins/common/options.hpp"
#include "plugins/common/wording.hpp"
#include "samples.hpp"

namespace {

using latency::Samples;
using tmeter::Cell;
using tmeter::Graph;
using tmeter::ObserverCall;

// Least time of all whole runs, like min_run_time of torch.utils.benchmark's blocked_autorange.
// Percentiles of a dozen short runs would be decided by a single slow one.
constexpr double kMinTotalSeconds = 0.2;
constexpr size_t kMaxSamples = size_t{1} << 22;  // for all operators: 32 MiB

const std::array<tmeter::MetricSpec, 9> kMetrics{{
    {.id = "infer_time",
     .title = "inference time",
     .unit = "s",
     .unit_kind = TMETER_UNIT_SECOND,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .convention = "median of whole runs, from the first operator's call to the last one's return, "
                   "with inputs and weights on the device"},
    {.id = "throughput",
     .title = "throughput",
     .unit = "IPS",
     .unit_kind = TMETER_UNIT_OTHER,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .better = TMETER_BETTER_HIGHER,
     .convention =
         "inputs of one forward / inference time; the batch, dim 0 of the first tensor input, "
         "counts once"},
    {.id = "infer_time_p5",
     .title = "inference time, p5",
     .unit = "s",
     .unit_kind = TMETER_UNIT_SECOND,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .convention = "5th percentile of the times of whole runs"},
    {.id = "infer_time_p95",
     .title = "inference time, p95",
     .unit = "s",
     .unit_kind = TMETER_UNIT_SECOND,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .convention = "95th percentile of the times of whole runs"},
    {.id = "op_time",
     .title = "time",
     .unit = "s",
     .unit_kind = TMETER_UNIT_SECOND,
     .convention = "median of an operator's time in runs that observe operators; for a module, the "
                   "sum of the operators inside"},
    {.id = "time_share",
     .title = "time share",
     .unit_kind = TMETER_UNIT_RATIO,
     .better = TMETER_BETTER_NEITHER,
     .convention = "time / the sum of all operators' times"},
    {.id = "op_time_p95",
     .title = "time, p95",
     .unit = "s",
     .unit_kind = TMETER_UNIT_SECOND,
     .aggregation = TMETER_AGGREGATE_NONE,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "95th percentile of an operator's times"},
    {.id = "infer_runs",
     .title = "runs",
     .unit = "",
     .unit_kind = TMETER_UNIT_COUNT,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .better = TMETER_BETTER_NEITHER,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "number of whole runs measured, without warm-up"},
    {.id = "observing_cost",
     .title = "cost of observing",
     .unit_kind = TMETER_UNIT_RATIO,
     .axis = TMETER_AXIS_MODEL,
     .aggregation = TMETER_AGGREGATE_NONE,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "median of runs that observe operators / inference time - 1"},
}};

/// "on cpu (AMD EPYC), LibTorch 2.15.0, 2 threads, weights of the file, inputs: random"
std::string where(const ObserverCall& call) {
  std::string out = "on " + std::string(call.fact("device"));
  const auto add = [&](std::string_view key, std::string_view before, std::string_view after) {
    const auto text = call.fact(key);
    if (!text.empty()) out.append(before).append(text).append(after);
  };
  add("device.name", " (", ")");
  add("engine", ", ", "");
  add("threads", ", ", call.fact("threads") == "1" ? " thread" : " threads");
  add("weights", ", weights: ", "");
  add("inputs", ", inputs: ", "");
  return out;
}

int64_t batch_of(const Graph& graph) {
  for (const auto input : graph.inputs())
    if (input.is_tensor() && input.shape().rank() > 0) return input.shape()[0];
  return 1;
}

class Latency final : public tmeter::Observer {
 public:
  void begin(const Graph& graph, ObserverCall& call) override {
    precision_ = call.option_float("precision");
    least_ = static_cast<size_t>(call.option_int("runs"));
    operators_.resize(graph.nodes().size());
    others_ = {};
    call.want(TMETER_RUN_WHOLE);
    call.want(TMETER_RUN_OPERATORS);
  }

  void event(const tmeter_event& e, ObserverCall&) override {
    const auto took = static_cast<double>(e.nanoseconds - e.since) * 1e-9;
    if (e.kind == TMETER_EVENT_RUN_END) {
      (e.run == TMETER_RUN_WHOLE ? whole_ : observed_).add(took);
      if (e.run == TMETER_RUN_WHOLE) measured_ += took;
    } else if (e.kind == TMETER_EVENT_OP_END && times_ < kMaxSamples) {
      operators_[tmeter::Node(e.node).index()].add(took);
      ++times_;
    }
  }

  bool enough(ObserverCall&) override {
    return whole_.count() >= least_ && measured_ >= kMinTotalSeconds &&
           whole_.uncertainty() <= precision_;
  }

  void end(const Graph& graph, ObserverCall& call) override {
    emit_whole(graph, call);
    emit_operators(call);
    report_unreliable_times(call);
    const auto provenance = about(call);
    for (const auto& m : kMetrics) call.set_provenance(m.id, provenance.first, provenance.second);
  }

 private:
  /// The runs that observe operators, if no whole run fitted into the time.
  const Samples& runs() const { return whole_.empty() ? observed_ : whole_; }

  std::pair<int32_t, std::string> about(const ObserverCall& call) const {
    const auto stopped = std::string(call.stopped());
    const auto why = stopped.empty() ? std::string() : "; the runs ended early: " + stopped;
    if (runs().empty()) return {TMETER_PROVENANCE_UNAVAILABLE, "no run was completed" + why};
    const auto n = runs().count();
    std::string text = n == 1 ? "one run" : "median of " + std::to_string(n) + " runs";
    text += " after " + std::string(call.fact("warm-up")) + " of warm-up";
    if (n > 5) text += ", 95 % interval ±" + plugins::percent(runs().uncertainty());
    return {TMETER_PROVENANCE_MEASURED, text + ", " + where(call) + why};
  }

  void emit_whole(const Graph& graph, const ObserverCall& call) const {
    if (runs().empty()) return;
    const auto emit = [&](std::string_view id, Cell value) {
      call.emit(id, TMETER_AXIS_MODEL, 0, value);
    };
    const double time = runs().median();
    emit("infer_time", time);
    if (time > 0) emit("throughput", static_cast<double>(batch_of(graph)) / time);
    emit("infer_time_p5", runs().quantile(0.05));
    emit("infer_time_p95", runs().quantile(0.95));
    emit("infer_runs", Cell(tmeter::Count(static_cast<int64_t>(runs().count()))));
    if (!whole_.empty() && !observed_.empty() && time > 0)
      emit("observing_cost", observed_.median() / time - 1);
  }

  void emit_operators(const ObserverCall& call) const {
    double sum = 0;
    for (const auto& o : operators_) sum += o.median();
    for (size_t i = 0; i < operators_.size(); ++i) {
      const auto& o = operators_[i];
      const auto emit = [&](std::string_view id, Cell value) {
        call.emit(id, TMETER_AXIS_NODE, i, value);
      };
      if (o.empty()) {
        // Zero if the operator is never executed; unknown if the runs ended before it.
        if (observed_.empty()) continue;
        for (const auto* id : {"op_time", "time_share"}) emit(id, Cell::zero_by_rule());
        continue;
      }
      emit("op_time", o.median());
      emit("op_time_p95", o.quantile(0.95));
      if (sum > 0) emit("time_share", o.median() / sum);
    }
  }

  /// A measurement that cannot be trusted is reported as a warning, with the reasons.
  void report_unreliable_times(ObserverCall& call) const {
    if (runs().empty()) return;
    latency::RunConditions c{.runs = runs().count(),
                             .p5 = runs().quantile(0.05),
                             .p95 = runs().quantile(0.95),
                             .median = runs().median(),
                             .processors = others_.processors()};
    for (const auto& o : operators_) c.operators += o.median();
    c.threads = std::strtod(std::string(call.fact("threads")).c_str(), nullptr);
    if (call.fact("device") == "cpu") c.others = others_.busy().value_or(0);
    const auto reasons = latency::distrust_reasons(c);
    if (reasons.empty()) return;
    tmeter::Finding finding;
    finding.severity = TMETER_SEVERITY_WARNING;
    finding.rule = "unreliable-times";
    finding.text = "the measured times cannot be trusted";
    for (const auto& reason : reasons)
      finding.evidence += (finding.evidence.empty() ? "" : "; ") + reason;
    finding.action = "measure again on an idle machine, and longer (--run-for=60s)";
    call.add(finding);
  }

  latency::OtherProcesses others_;
  double precision_ = 0;
  double measured_ = 0;  // seconds of whole runs
  size_t least_ = 0, times_ = 0;
  Samples whole_, observed_;
  std::vector<Samples> operators_;
};

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.latency",
        .version = "1.0.0",
        .description = "Measured time of the model, its modules and operators",
    }),
    [](tmeter::Registrar& r) {
      for (const auto& m : kMetrics) r.metric(m);
      r.option(plugins::real_option(
          "precision", "0.02", 1e-4, 1,
          "runs are repeated for 0.2 s at least, until the 95 % confidence interval of "
          "the median is within this share of it, or --run-for is over"));
      r.option(plugins::integer_option("runs", "10", 1, 1e6,
                                       "smallest number of whole runs, if --run-for permits"));
      tmeter::observer<Latency>(
          r, "latency",
          "infer_time throughput infer_time_p5 infer_time_p95 op_time time_share "
          "op_time_p95 infer_runs observing_cost");
    })
