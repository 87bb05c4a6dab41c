#include "recorder.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace system_load {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 3> kUnits{{{"ms", 1e-3}, {"s", 1}, {"min", 60}}};
constexpr double kMinSeconds = 0.01, kMaxSeconds = 3600;

}  // namespace

std::optional<uint64_t> interval_of(std::string_view text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  for (const auto& u : kUnits) {
    const double seconds = number * u.seconds;
    if (unit == u.name && seconds >= kMinSeconds && seconds <= kMaxSeconds)
      return static_cast<uint64_t>(seconds * 1e9 + 0.5);
  }
  return std::nullopt;
}

namespace {

constexpr size_t kMaxPoints = 2000;
constexpr size_t kMaxCores = 256;  // processors with their own curve

std::optional<double> increase_of(std::optional<double> before, std::optional<double> after) {
  return before && after && *after >= *before ? std::optional(*after - *before) : std::nullopt;
}

double busy(const sensors::CpuTimes& before, const sensors::CpuTimes& after) {
  const double total = after.total - before.total;
  return total > 0 ? std::clamp((after.busy - before.busy) / total, 0.0, 1.0) : 0;
}

}  // namespace

void Curve::add(double seconds, double value) {
  if (!points_.empty() && seconds <= points_.back().seconds) return;
  peak_ = empty() ? value : std::max(peak_, value);
  sum_ += value;
  if (count_++ % every_ != 0) return;
  points_.push_back({seconds, value});
  if (points_.size() < kMaxPoints) return;
  for (size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  every_ *= 2;
}

Recorder::Recorder(sensors::Places places, std::optional<size_t> gpu)
    : places_(std::move(places)), gpu_(gpu) {
  if (!gpu_) return;
  nvml_ = std::make_unique<sensors::Nvml>(places_.nvml);
  gpu_problem_ = nvml_->problem();
  if (gpu_problem_.empty() && *gpu_ >= nvml_->count())
    gpu_problem_ = "NVML has no GPU " + std::to_string(*gpu_);
}

Recorder::State Recorder::look(double seconds) const {
  return {seconds, sensors::cpu_times(places_.root), sensors::process_state(places_.root),
          sensors::disk_traffic(places_.root), sensors::network_traffic(places_.root)};
}

Curve& Recorder::at(const std::string& id, const std::string& title, const std::string& unit) {
  for (const auto& c : curves_)
    if (c->id() == id) return *c;
  return *curves_.emplace_back(std::make_unique<Curve>(id, title, unit));
}

void Recorder::add(const std::string& id, const std::string& title, const std::string& unit,
                   double seconds, std::optional<double> value) {
  if (value) at(id, title, unit).add(seconds, *value);
}

void Recorder::add_rate(const std::string& id, const std::string& title, const std::string& unit,
                        const State& now, std::optional<double> before,
                        std::optional<double> after) {
  const auto gain = increase_of(before, after);
  if (gain) add(id, title, unit, now.seconds, *gain / (now.seconds - last_->seconds));
}

void Recorder::add_cpus(const State& now) {
  const size_t n = std::min(now.cpus.size(), last_->cpus.size());
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double share = busy(last_->cpus[i], now.cpus[i]);
    sum += share;
    if (i < kMaxCores)
      add("cpu" + std::to_string(i) + "_utilisation",
          "utilisation of processor " + std::to_string(i), "%", now.seconds, share * 100);
  }
  if (n > 0)
    add("cpu_utilisation", "utilisation of all processors", "%", now.seconds,
        sum / static_cast<double>(n) * 100);
}

void Recorder::add_process(const State& now) {
  const auto& before = last_->process;
  const auto& after = now.process;
  add("resident", "resident memory", "B", now.seconds, after.resident);
  add_rate("page_faults", "page faults", "1/s", now, before.minor_faults, after.minor_faults);
  add_rate("major_faults", "page faults that wait for a disk", "1/s", now, before.major_faults,
           after.major_faults);
  add_rate("disk_read", "read from disks", "B/s", now, last_->disks.in, now.disks.in);
  add_rate("disk_written", "written to disks", "B/s", now, last_->disks.out, now.disks.out);
  add_rate("network_received", "received from networks", "B/s", now, last_->networks.in,
           now.networks.in);
  add_rate("network_sent", "sent to networks", "B/s", now, last_->networks.out, now.networks.out);
}

void Recorder::add_gpu(double seconds) {
  if (!nvml_ || !gpu_problem_.empty()) return;
  const auto state = nvml_->state(*gpu_);
  const auto share = state.utilisation ? std::optional(*state.utilisation * 100) : std::nullopt;
  add("gpu_utilisation", "utilisation of the GPU", "%", seconds, share);
  add("gpu_memory", "memory of the GPU in use", "B", seconds, state.memory);
  add("gpu_temperature", "temperature of the GPU", "°C", seconds, state.temperature);
  add("gpu_power", "power of the GPU", "W", seconds, state.power);
}

void Recorder::read(double seconds) {
  const double since = first_ ? seconds - first_->seconds : 0;
  auto now = look(since);
  ++readings_;
  if (!first_) {
    first_ = now;
    first_->seconds = seconds;
    last_ = std::move(now);
    return;
  }
  if (since <= last_->seconds) return;
  add_cpus(now);
  const auto frequencies = sensors::cpu_frequencies(places_.root);
  double sum = 0;
  for (const double f : frequencies) sum += f;
  if (!frequencies.empty())
    add("cpu_frequency", "clock of the processors, mean", "Hz", since,
        sum / static_cast<double>(frequencies.size()));
  add_process(now);
  add_gpu(since);
  last_ = std::move(now);
}

std::vector<const Curve*> Recorder::curves() const {
  std::vector<const Curve*> out;
  for (const auto& c : curves_)
    if (!c->empty()) out.push_back(c.get());
  // The curve of all processors before the curve of each.
  std::stable_sort(out.begin(), out.end(), [](const Curve* a, const Curve* b) {
    return (a->id() == "cpu_utilisation") > (b->id() == "cpu_utilisation");
  });
  return out;
}

const Curve* Recorder::curve(const std::string& id) const {
  for (const auto& c : curves_)
    if (c->id() == id && !c->empty()) return c.get();
  return nullptr;
}

Recorder::Increases Recorder::increases() const {
  if (!first_ || readings_ < 2) return {};
  const auto& a = first_->process;
  const auto& b = last_->process;
  return {increase_of(a.minor_faults, b.minor_faults),
          increase_of(a.major_faults, b.major_faults),
          increase_of(first_->disks.in, last_->disks.in),
          increase_of(first_->disks.out, last_->disks.out),
          increase_of(first_->networks.in, last_->networks.in),
          increase_of(first_->networks.out, last_->networks.out)};
}

std::optional<double> Recorder::peak_resident() const {
  return last_ ? last_->process.peak : std::nullopt;
}

}  // namespace system_load
