#include "measured.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>
#include <tmeter/cpp/observer.hpp>
#include <tmeter/cpp/units.hpp>

#include "columns.hpp"
#include "energy_counters.hpp"
#include "grid.hpp"
#include "meter.hpp"
#include "nvml.hpp"
#include "plugins/common/model_metrics.hpp"
#include "plugins/common/options.hpp"
#include "readings.hpp"

namespace energy {
namespace {

using tmeter::Cell;
using tmeter::Graph;
using tmeter::ObserverCall;

constexpr double kTargetResolution = 0.02;
constexpr size_t kMinRuns = 5;
constexpr auto kIdleSpan = std::chrono::milliseconds(250);
constexpr uint64_t kSamplingInterval = 100'000'000;  // ns

constexpr std::string_view kProduced =
    "measured_energy measured_power idle_power measured_flops_per_joule measured_co2 temperature "
    "throttled";

tmeter::MetricSpec detail(std::string_view id, std::string_view title, std::string_view unit,
                          int32_t kind, std::string_view convention,
                          int32_t better = TMETER_BETTER_LOWER) {
  return plugins::spec_of({id, title, unit, kind, convention, better, TMETER_METRIC_DETAIL});
}

std::array<tmeter::MetricSpec, 7> metrics() {
  return {
      {{.id = "measured_energy",
        .title = "measured energy",
        .unit = "J",
        .unit_kind = TMETER_UNIT_JOULE,
        .convention =
            "energy by the machine's counters, mean of whole runs; an operator has its share: of "
            "idle power by time, of the rest by processor time (--set energy.attribution=time: "
            "all by time)"},
       detail("measured_power", "measured power", "W", TMETER_UNIT_WATT,
              "energy of whole runs / their time"),
       detail("idle_power", "idle power", "W", TMETER_UNIT_WATT,
              "power of the counted parts during 0.25 s before the runs"),
       detail("measured_flops_per_joule", "measured FLOPs/J", "FLOP/J", TMETER_UNIT_OTHER,
              "(2 × MACs + other operations) / measured energy", TMETER_BETTER_HIGHER),
       detail("measured_co2", "measured CO2e", "g", TMETER_UNIT_OTHER,
              "measured energy × carbon intensity of the grid (--set energy.region=DE)"),
       detail("temperature", "temperature", "°C", TMETER_UNIT_OTHER,
              "highest temperature of processors, boards and the GPU during the runs"),
       detail("throttled", "throttled", "", TMETER_UNIT_COUNT,
              "thermal throttling events of processor packages during the runs")}};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class Measured final : public tmeter::Observer {
 public:
  void begin(const Graph& graph, ObserverCall& call) override;
  void event(const tmeter_event& e, ObserverCall& call) override;
  bool enough(ObserverCall&) override {
    return !meter_ || !unreadable_counter_.empty() ||
           (meter_->runs() >= kMinRuns && meter_->resolution() <= kTargetResolution);
  }
  void end(const Graph& graph, ObserverCall& call) override;
  void sample(uint64_t, ObserverCall&) override { look(); }

 private:
  void find_counters(const ObserverCall& call);
  std::optional<double> joules();
  void look();
  void run_begins(const tmeter_event& e);
  void run_ends(const tmeter_event& e);
  void emit_energy(const ObserverCall& call) const;
  void emit_state(const ObserverCall& call) const;
  void report_carbon(double joules, const ObserverCall& call) const;
  std::string words() const;
  std::string missing_reason() const;

  sensors::Places places_;
  std::unique_ptr<sensors::Nvml> nvml_;  // outlives its counters
  std::optional<size_t> gpu_;
  std::vector<std::unique_ptr<sensors::EnergyCounter>> counters_;
  std::vector<std::string> problems_;
  std::vector<sensors::Probe> probes_;
  std::optional<Meter> meter_;
  std::optional<double> idle_, at_begin_, first_;
  double first_time_ = 0, op_activity_ = 0;
  std::string unreadable_counter_;  // a counter that became unreadable
  std::optional<double> hottest_, throttled_at_first_;
  std::set<std::string> gpu_throttled_;
};

void Measured::find_counters(const ObserverCall& call) {
  places_ = sensors::places_of(call);
  auto found = sensors::processor_counters(places_);
  counters_ = std::move(found.counters);
  problems_ = std::move(found.problems);
  gpu_ = sensors::gpu_of(call.fact("device"));
  if (!gpu_) return;
  nvml_ = std::make_unique<sensors::Nvml>(places_.nvml);
  auto counter = *gpu_ < nvml_->count() ? nvml_->counter(*gpu_) : nullptr;
  // The energy of the processors alone would be mistaken for that of a run on the GPU.
  if (!counter) counters_.clear();
  if (!nvml_->problem().empty()) {
    problems_.push_back(nvml_->problem());
  } else if (!counter) {
    problems_.push_back("NVML has neither energy nor power of GPU " + std::to_string(*gpu_));
  }
  if (counter) counters_.push_back(std::move(counter));
}

std::optional<double> Measured::joules() {
  double sum = 0;
  for (const auto& counter : counters_) {
    const auto value = counter->joules();
    if (!value) {
      unreadable_counter_ = counter->name();
      return std::nullopt;
    }
    sum += *value;
  }
  return sum;
}

void Measured::begin(const Graph& graph, ObserverCall& call) {
  find_counters(call);
  probes_ = sensors::temperature_probes(places_.root);
  throttled_at_first_ = sensors::throttle_events(places_.root);
  if (!probes_.empty() || nvml_) call.want_samples(kSamplingInterval);
  if (counters_.empty()) return;
  double interval = 0;
  for (const auto& counter : counters_) interval = std::max(interval, counter->interval());
  meter_.emplace(graph.nodes().size(), interval);
  const auto before = joules();
  const double start = now();
  std::this_thread::sleep_for(kIdleSpan);
  const auto after = joules();
  if (before && after) {
    idle_ = (*after - *before) / (now() - start);
    meter_->set_idle(*idle_);
  }
  call.want(TMETER_RUN_WHOLE);
  call.want(TMETER_RUN_OPERATORS);
}

/// Temperatures and throttling; powers that are integrated need frequent readings, too.
void Measured::look() {
  const auto hotter = [this](std::optional<double> t) {
    if (t) hottest_ = std::max(hottest_.value_or(*t), *t);
  };
  for (const auto& probe : probes_) hotter(sensors::read_probe(probe));
  if (!nvml_ || !gpu_ || *gpu_ >= nvml_->count()) return;
  const auto state = nvml_->state(*gpu_);
  hotter(state.temperature);
  gpu_throttled_.insert(state.throttled.begin(), state.throttled.end());
  if (unreadable_counter_.empty()) joules();
}

void Measured::run_begins(const tmeter_event&) {
  at_begin_ = joules();
  if (first_ || !at_begin_) return;
  first_ = at_begin_;
  first_time_ = now();
}

void Measured::run_ends(const tmeter_event& e) {
  const auto at_end = joules();
  if (!at_begin_ || !at_end || !first_) return;
  const auto seconds = static_cast<double>(e.nanoseconds - e.since) * 1e-9;
  if (e.run == TMETER_RUN_WHOLE) meter_->add_run(seconds, *at_end - *at_begin_);
  meter_->set_span(now() - first_time_, *at_end - *first_);
}

void Measured::event(const tmeter_event& e, ObserverCall&) {
  if (!meter_ || !unreadable_counter_.empty()) return;
  if (e.run != TMETER_RUN_WHOLE && e.run != TMETER_RUN_OPERATORS) return;
  if (e.kind == TMETER_EVENT_RUN_END) return run_ends(e);
  if (e.kind == TMETER_EVENT_RUN_BEGIN) return run_begins(e);
  if (e.kind == TMETER_EVENT_OP_BEGIN) op_activity_ = processor_time();
  if (e.kind == TMETER_EVENT_OP_END)
    meter_->add_operator(tmeter::Node(e.node).index(),
                         static_cast<double>(e.nanoseconds - e.since) * 1e-9,
                         processor_time() - op_activity_);
}

/// "RAPL by powercap: package-0, dram of package-0; mean of 120 runs, resolution ±0.4 %"
std::string Measured::words() const {
  std::string text, by;
  for (const auto& counter : counters_) {
    text += (text.empty() ? "" : by == counter->by() ? ", " : "; ");
    if (by != counter->by()) text += counter->by() + ": ";
    by = counter->by();
    text += counter->name();
  }
  text += meter_->by_span() ? "; power of all runs together × time of a run, " : "; mean of ";
  text += std::to_string(meter_->runs()) + (meter_->runs() == 1 ? " run" : " runs");
  text += ", the counters' steps make it uncertain by " +
          tmeter::general(meter_->uncertainty() * 100, 2) + " %";
  if (gpu_) text += "; attributed by time";
  return text;
}

std::string Measured::missing_reason() const {
  if (!unreadable_counter_.empty())
    return "the counter " + unreadable_counter_ + " became unreadable";
  if (meter_ && meter_->runs() == 0) return "no whole run was completed";
  if (meter_) return "the energy counters did not change during the runs";
  std::string text = "no energy counters";
  for (const auto& problem : problems_)
    text += (text.ends_with("counters") ? ": " : "; ") + problem;
  return text;
}

void Measured::report_carbon(double joules, const ObserverCall& call) const {
  const auto grid = grid_of(call);
  if (grid.grams_per_kwh) {
    call.emit("measured_co2", TMETER_AXIS_MODEL, 0, grams_of(joules, *grid.grams_per_kwh));
    call.set_provenance("measured_co2", TMETER_PROVENANCE_MEASURED, words() + "; " + grid.text);
  } else {
    call.set_provenance("measured_co2", TMETER_PROVENANCE_UNAVAILABLE, grid.text);
  }
}

void Measured::emit_energy(const ObserverCall& call) const {
  const auto emit = [&](std::string_view id, double value) {
    call.emit(id, TMETER_AXIS_MODEL, 0, value);
  };
  const double joules = meter_->joules().value();
  const auto shares = meter_->attributed(call.option_text("attribution") == "activity" && !gpu_);
  for (size_t i = 0; i < shares.size(); ++i) {
    const bool ran = shares[i] > 0;
    call.emit("measured_energy", TMETER_AXIS_NODE, i, ran ? Cell(shares[i]) : Cell::zero_by_rule());
  }
  emit("measured_power", meter_->watts().value());
  const auto macs = call.read("macs", TMETER_AXIS_MODEL, 0);
  const auto ops = call.read("other_flops", TMETER_AXIS_MODEL, 0);
  if (macs.known() && ops.known())
    emit("measured_flops_per_joule", (2 * macs.real() + ops.real()) / joules);
  if (idle_) emit("idle_power", *idle_);
  for (const auto* id :
       {"measured_energy", "measured_power", "idle_power", "measured_flops_per_joule"})
    call.set_provenance(id, TMETER_PROVENANCE_MEASURED, words());
  report_carbon(joules, call);
}

void Measured::emit_state(const ObserverCall& call) const {
  const auto emit_reading = [&](std::string_view id, std::optional<double> value,
                                const std::string& from, const std::string& missing) {
    if (value) call.emit(id, TMETER_AXIS_MODEL, 0, *value);
    call.set_provenance(id, value ? TMETER_PROVENANCE_MEASURED : TMETER_PROVENANCE_UNAVAILABLE,
                        value ? from : missing);
  };
  emit_reading("temperature", hottest_,
               "highest of " + std::to_string(probes_.size()) + " sensors, each 100 ms",
               "no temperature was read (/sys/class/hwmon" + std::string(gpu_ ? ", NVML)" : ")"));
  const auto last = sensors::throttle_events(places_.root);
  const bool counted = last && throttled_at_first_;
  std::string by;
  for (const auto& reason : gpu_throttled_) by += "; GPU: " + reason;
  if (counted) {
    call.emit("throttled", TMETER_AXIS_MODEL, 0,
              Cell(tmeter::Count(static_cast<int64_t>(*last - *throttled_at_first_))));
  }
  call.set_provenance("throttled",
                      counted ? TMETER_PROVENANCE_MEASURED : TMETER_PROVENANCE_UNAVAILABLE,
                      (counted ? "package_throttle_count"
                               : "no package_throttle_count in /sys/devices/system/cpu") +
                          by);
}

void Measured::end(const Graph&, ObserverCall& call) {
  look();  // runs may have been shorter than a sample's interval
  if (meter_ && unreadable_counter_.empty() && meter_->joules()) {
    emit_energy(call);
  } else {
    const auto why = missing_reason();
    for (const auto* id : {"measured_energy", "measured_power", "idle_power",
                           "measured_flops_per_joule", "measured_co2"})
      call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, why);
  }
  emit_state(call);
}

}  // namespace

void register_measured(tmeter::Registrar& r) {
  static const auto kMetrics = metrics();
  for (const auto& m : kMetrics) r.metric(m);
  r.option(plugins::choice_option(
      "attribution", "activity time",
      "how measured energy above idle is attributed to operators: by processor time, "
      "or by time"));
  sensors::add_place_options(r);
  tmeter::observer<Measured>(r, "energy", kProduced);
}

}  // namespace energy
