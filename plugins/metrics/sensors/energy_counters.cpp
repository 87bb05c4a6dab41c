#include "energy_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "files.hpp"

namespace sensors {

EnergyCounters processor_counters(const Places& places) {
  auto found = powercap_counters(places.root);
  if (!found.counters.empty()) return found;
  auto by_perf = perf_counters(places.root, open_perf_event);
  for (auto& problem : by_perf.problems) found.problems.push_back(std::move(problem));
  found.counters = std::move(by_perf.counters);
  return found;
}

namespace {

/// Seconds between two updates of a zone's energy status (Intel SDM 3B, 15.10.1: about 1 ms).
constexpr double kZoneInterval = 1e-3;

class Zone final : public EnergyCounter {
 public:
  Zone(std::string name, std::string file, uint64_t first, std::optional<uint64_t> range)
      : EnergyCounter(std::move(name), "RAPL by powercap", kZoneInterval),
        file_(std::move(file)),
        last_(first),
        range_(range) {}

  std::optional<double> joules() override {
    const auto now = unreadable_ ? std::nullopt : read_number(file_);
    if (!now || !add(*now)) {
      unreadable_ = true;
      return std::nullopt;
    }
    return static_cast<double>(sum_) * 1e-6;
  }

 private:
  /// False for a step back other than an overflow.
  bool add(uint64_t now) {
    if (now >= last_) {
      sum_ += now - last_;
    } else if (range_ && *range_ >= last_) {
      sum_ += *range_ - last_ + now;
    } else {
      return false;
    }
    last_ = now;
    return true;
  }

  std::string file_;
  uint64_t last_, sum_ = 0;  // µJ
  std::optional<uint64_t> range_;
  bool unreadable_ = false;
};

void add_zone(const std::string& folder, const std::string& name, EnergyCounters& out) {
  const auto path = folder + "/energy_uj";
  const auto file = read_file(path);
  if (file.error == EACCES || file.error == EPERM) {
    out.problems.push_back(path + " may be read only by root (" + name + "): sudo chmod a+r " +
                           path);
    return;
  }
  const auto first = file ? number_in(file.text) : std::nullopt;
  if (!first) {
    out.problems.push_back(
        path + (file ? " holds no number" : std::string(": ") + std::strerror(file.error)));
    return;
  }
  out.counters.push_back(
      std::make_unique<Zone>(name, path, *first, read_number(folder + "/max_energy_range_uj")));
}

}  // namespace

EnergyCounters powercap_counters(const std::string& root) {
  EnergyCounters out;
  const auto folder = root + "/sys/class/powercap";
  for (const auto& zone : names_in(folder, "intel-rapl:")) {
    const auto path = folder + "/" + zone;
    const auto name = read_line(path + "/name");
    if (zone.find(':') == zone.rfind(':')) {
      if (name.starts_with("package")) add_zone(path, name, out);
    } else if (name == "dram") {
      const auto parent = read_line(folder + "/" + zone.substr(0, zone.rfind(':')) + "/name");
      add_zone(path, "dram of " + (parent.empty() ? zone : parent), out);
    }
  }
  if (out.counters.empty() && out.problems.empty())
    out.problems.push_back(folder + " has no RAPL packages");
  return out;
}

namespace {

constexpr double kPerfInterval = 1e-3;  // as powercap's: the same registers

struct Event {
  const char* file;
  const char* name;
};
constexpr Event kEvents[] = {{"energy-pkg", "package"}, {"energy-ram", "dram of package"}};

class PerfCounter final : public EnergyCounter {
 public:
  PerfCounter(std::string name, int fd, double joules_each)
      : EnergyCounter(std::move(name), "RAPL by perf", kPerfInterval),
        fd_(fd),
        each_(joules_each) {}
  ~PerfCounter() override { close(fd_); }
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;

  std::optional<double> joules() override {
    uint64_t now = 0;
    if (unreadable_ || read(fd_, &now, sizeof now) != static_cast<ssize_t>(sizeof now) ||
        (first_ && now < *first_)) {
      unreadable_ = true;
      return std::nullopt;
    }
    if (!first_) first_ = now;
    return static_cast<double>(now - *first_) * each_;
  }

 private:
  int fd_;
  double each_;
  std::optional<uint64_t> first_;  // perf extends the 32 bits of the register: it never overflows
  bool unreadable_ = false;
};

/// "event=0x02"
std::optional<uint64_t> config_in(const std::string& text) {
  constexpr std::string_view kKey = "event=0x";
  if (!text.starts_with(kKey)) return std::nullopt;
  uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + kKey.size(), end, value, 16);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<double> scale_in(const std::string& text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end && value > 0 && value < 1;
  return whole ? std::optional(value) : std::nullopt;
}

/// "0,36" or "0": one processor of each package.
std::vector<int> processors_in(const std::string& text) {
  std::vector<int> out;
  for (size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto part = number_in(std::string_view(text).substr(at, end - at));
    if (!part || *part > 1 << 20) return {};
    out.push_back(static_cast<int>(*part));
    at = end + 1;
  }
  return out;
}

std::string refused(int error) {
  const std::string what = std::string("perf_event_open of the PMU power: ") + std::strerror(error);
  if (error == EACCES || error == EPERM)
    return what +
           ": it needs --profile, and sudo sysctl kernel.perf_event_paranoid=0 or CAP_PERFMON";
  return what;
}

}  // namespace

int open_perf_event(uint32_t type, uint64_t config, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  const auto fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

EnergyCounters perf_counters(const std::string& root, const OpenPerfEvent& open) {
  EnergyCounters out;
  const auto pmu = root + "/sys/bus/event_source/devices/power";
  const auto type = read_number(pmu + "/type");
  const auto cpus = processors_in(read_line(pmu + "/cpumask"));
  for (const auto& event : kEvents) {
    const auto path = pmu + "/events/" + event.file;
    const auto config = config_in(read_line(path));
    const auto scale = scale_in(read_line(path + ".scale"));
    if (!type || !config || !scale || read_line(path + ".unit") != "Joules") continue;
    for (size_t i = 0; i < cpus.size(); ++i) {
      const int fd = open(static_cast<uint32_t>(*type), *config, cpus[i]);
      if (fd < 0) return {std::move(out.counters), {refused(-fd)}};
      out.counters.push_back(
          std::make_unique<PerfCounter>(event.name + ("-" + std::to_string(i)), fd, *scale));
    }
  }
  if (out.counters.empty()) out.problems.push_back(pmu + " has no energy events");
  return out;
}

}  // namespace sensors
