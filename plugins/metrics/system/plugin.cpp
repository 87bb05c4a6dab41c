// system: the machine during runs: load and clock of the processors, memory, page faults, disks,
// networks and the GPU, read at an interval: curves in the report, and their sums, means and peaks.
#include <array>
#include <chrono>
#include <tmeter/cpp/observer.hpp>

#include "energy_counters.hpp"
#include "plugins/common/model_metrics.hpp"
#include "plugins/common/options.hpp"
#include "recorder.hpp"

namespace {

using system_load::Curve;
using system_load::Recorder;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Graph;
using tmeter::ObserverCall;

using Value = std::optional<double>;

/// A metric of the whole model, with its source.
struct Column {
  tmeter::MetricSpec spec;
  Value (*value)(const Recorder&);
};

Value mean_of(const Recorder& r, const char* id) {
  const auto* curve = r.curve(id);
  return curve ? Value(curve->mean()) : Value();
}
Value peak_of(const Recorder& r, const char* id) {
  const auto* curve = r.curve(id);
  return curve ? Value(curve->peak()) : Value();
}
Value share(Value percent) { return percent ? Value(*percent / 100) : Value(); }

Value load(const Recorder& r) { return share(mean_of(r, "cpu_utilisation")); }
Value clock(const Recorder& r) { return mean_of(r, "cpu_frequency"); }
Value resident(const Recorder& r) { return r.peak_resident(); }
Value faults(const Recorder& r) { return r.increases().minor_faults; }
Value major_faults(const Recorder& r) { return r.increases().major_faults; }
Value disk_read(const Recorder& r) { return r.increases().disk_read; }
Value disk_written(const Recorder& r) { return r.increases().disk_written; }
Value received(const Recorder& r) { return r.increases().received; }
Value sent(const Recorder& r) { return r.increases().sent; }
Value gpu_load(const Recorder& r) { return share(mean_of(r, "gpu_utilisation")); }
Value gpu_memory(const Recorder& r) { return peak_of(r, "gpu_memory"); }
Value gpu_temperature(const Recorder& r) { return peak_of(r, "gpu_temperature"); }
Value gpu_power(const Recorder& r) { return mean_of(r, "gpu_power"); }

tmeter::MetricSpec spec(std::string_view id, std::string_view title, std::string_view unit,
                        int32_t kind, std::string_view convention,
                        uint32_t flags = TMETER_METRIC_DETAIL) {
  return plugins::spec_of({id, title, unit, kind, convention, TMETER_BETTER_NEITHER, flags});
}

const std::array<Column, 13> kColumns{{
    {spec(
         "cpu_utilisation", "CPU load", "", TMETER_UNIT_RATIO,
         "share of time that processors were not idle during the runs, by any process; mean of all "
         "processors",
         0),
     load},
    {spec("cpu_frequency", "CPU clock", "Hz", TMETER_UNIT_OTHER,
          "cpufreq/scaling_cur_freq, else /proc/cpuinfo; mean over processors and readings"),
     clock},
    {spec("resident_peak", "peak resident memory", "B", TMETER_UNIT_BYTE,
          "VmHWM of the process that runs the model, with mapped files and libraries", 0),
     resident},
    {spec("minor_faults", "minor page faults", "", TMETER_UNIT_COUNT,
          "of the process, from the first reading to the last, without disk access"),
     faults},
    {spec("major_faults", "major page faults", "", TMETER_UNIT_COUNT,
          "of the process, from the first reading to the last, with disk access"),
     major_faults},
    {spec("disk_read", "disk read", "B", TMETER_UNIT_BYTE,
          "from all disks of the machine, by any process, from the first reading to the last"),
     disk_read},
    {spec("disk_written", "disk written", "B", TMETER_UNIT_BYTE,
          "to all disks of the machine, by any process, from the first reading to the last"),
     disk_written},
    {spec("network_received", "network received", "B", TMETER_UNIT_BYTE,
          "by all interfaces except loopback, from the first reading to the last"),
     received},
    {spec("network_sent", "network sent", "B", TMETER_UNIT_BYTE,
          "by all interfaces except loopback, from the first reading to the last"),
     sent},
    {spec("gpu_utilisation", "GPU load", "", TMETER_UNIT_RATIO,
          "NVML: share of time in which a kernel ran; mean of the readings"),
     gpu_load},
    {spec("gpu_memory_peak", "GPU memory", "B", TMETER_UNIT_BYTE,
          "NVML: memory of the board in use by any process; highest reading"),
     gpu_memory},
    {spec("gpu_temperature", "GPU temperature", "°C", TMETER_UNIT_OTHER, "NVML; highest reading"),
     gpu_temperature},
    {spec("gpu_power", "GPU power", "W", TMETER_UNIT_WATT, "NVML; mean of the readings"),
     gpu_power},
}};

constexpr std::string_view kProduced =
    "cpu_utilisation cpu_frequency resident_peak minor_faults major_faults disk_read disk_written "
    "network_received network_sent gpu_utilisation gpu_memory_peak gpu_temperature gpu_power";

uint64_t interval(const Call& call) {
  const auto text = call.option_text("interval");
  const auto ns = system_load::interval_of(text);
  if (!ns)
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "--set system.interval=" + std::string(text) +
                            ": expected a time from 10ms to 60min, for example 100ms");
  return *ns;
}

class System final : public tmeter::Observer {
 public:
  void begin(const Graph&, ObserverCall& call) override {
    const auto gpu = sensors::gpu_of(call.fact("device"));
    has_gpu_ = gpu.has_value();
    recorder_.emplace(sensors::places_of(call), gpu);
    call.want(TMETER_RUN_WHOLE);
    call.want_samples(interval(call));
  }
  void event(const tmeter_event& e, ObserverCall&) override {
    // From the first run on, without warm-up.
    if (e.kind == TMETER_EVENT_RUN_BEGIN && recorder_->readings() == 0) read();
  }
  void sample(uint64_t, ObserverCall&) override {
    if (recorder_->readings() > 0) read();
  }
  void end(const Graph&, ObserverCall& call) override {
    if (recorder_->readings() > 0) read();  // runs may have been shorter than the interval
    for (const auto& column : kColumns) emit(column, call);
    for (const auto* curve : recorder_->curves()) call.add(series_of(*curve));
  }

 private:
  void read() {
    using Seconds = std::chrono::duration<double>;
    recorder_->read(Seconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  void emit(const Column& column, const ObserverCall& call) const {
    const auto& id = column.spec.id;
    const auto value = column.value(*recorder_);
    if (!value) return call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, missing_reason(id));
    const bool whole =
        column.spec.unit_kind == TMETER_UNIT_BYTE || column.spec.unit_kind == TMETER_UNIT_COUNT;
    call.emit(id, TMETER_AXIS_MODEL, 0,
              whole ? Cell(tmeter::Count(static_cast<int64_t>(*value))) : Cell(*value));
    call.set_provenance(id, TMETER_PROVENANCE_MEASURED,
                        std::to_string(recorder_->readings()) + " readings, each " +
                            std::string(call.option_text("interval")));
  }
  std::string missing_reason(std::string_view id) const {
    if (recorder_->readings() == 0) return "the model was not run";
    if (!id.starts_with("gpu_"))
      return "not available on this machine (/proc, /sys/devices/system/cpu)";
    if (!has_gpu_) return "the model runs on the CPU";
    return recorder_->gpu_problem().empty() ? "not available from NVML" : recorder_->gpu_problem();
  }
  static tmeter::Series series_of(const Curve& curve) {
    tmeter::Series s{.id = curve.id(),
                     .title = curve.title(),
                     .x_title = "time since the start",
                     .x_unit = "s",
                     .y_title = curve.title(),
                     .y_unit = curve.unit(),
                     .x = {},
                     .y = {}};
    for (const auto& p : curve.points()) s.x.push_back(p.seconds), s.y.push_back(p.value);
    return s;
  }

  std::optional<Recorder> recorder_;
  bool has_gpu_ = false;
};

void register_all(tmeter::Registrar& r) {
  for (const auto& column : kColumns) r.metric(column.spec);
  r.option(plugins::text_option("interval", "interval of readings, from 10ms to 60min", "100ms"));
  sensors::add_place_options(r);
  r.configure([](Call& call) { interval(call); });  // refuse early
  tmeter::observer<System>(r, "system", kProduced);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.system",
        .version = "1.0.0",
        .description = "Load of the machine during runs: processors, memory, disks, networks, GPU",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
