// Counters of joules: of processor packages and their memory (RAPL, by powercap or perf), of GPUs
// (NVML). All count up from 0 at opening and hide overflows of the hardware's counters.
//
// One thread at a time. A counter that disappears or returns an impossible value has no readings
// from then on.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/options.hpp"

#pragma GCC visibility push(hidden)
namespace sensors {

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Joules since it was opened; empty from the first failed reading on.
  virtual std::optional<double> joules() = 0;
  /// "package-0", "dram of package-0", "GPU 0 (NVIDIA H100)"
  const std::string& name() const { return name_; }
  /// "RAPL by powercap"
  const std::string& by() const { return by_; }
  /// Seconds between two changes of the hardware's counter.
  double interval() const { return interval_; }

 protected:
  EnergyCounter(std::string name, std::string by, double interval)
      : name_(std::move(name)), by_(std::move(by)), interval_(interval) {}

 private:
  std::string name_, by_;
  double interval_;
};

/// The counters found, and why others are missing: "…/energy_uj may not be read: run `sudo chmod
/// …`".
struct EnergyCounters {
  std::vector<std::unique_ptr<EnergyCounter>> counters;
  std::vector<std::string> problems;
};

/// The places to search. Tests set a folder with their own trees, and a library.
struct Places {
  std::string root;  ///< prefix of "/sys" and "/proc"
  std::string nvml = "libnvidia-ml.so.1";
};

/// Counters of powercap, and those of perf that powercap lacks. Without GPUs.
EnergyCounters processor_counters(const Places& places);

// RAPL by /sys/class/powercap: packages, and the memory that belongs to them.
// Cores and graphics are part of their package, and psys has packages inside: neither is added.

EnergyCounters powercap_counters(const std::string& root);

// RAPL through perf events of the PMU "power": used if powercap is missing or forbidden. Needs
// CAP_PERFMON, or /proc/sys/kernel/perf_event_paranoid of 0 or less, because it counts the
// whole machine.

/// Opens an event of PMU `type` on processor `cpu`; a descriptor, or -errno.
using OpenPerfEvent = std::function<int(uint32_t type, uint64_t config, int cpu)>;

int open_perf_event(uint32_t type, uint64_t config, int cpu);

EnergyCounters perf_counters(const std::string& root, const OpenPerfEvent& open);

// The options for the places of sensors, for plugins that read them.

inline void add_place_options(tmeter::Registrar& r) {
  r.option(
      plugins::text_option("sensors-root", "folder that replaces / in /sys and /proc, for tests"));
  r.option(plugins::text_option("nvml", "NVIDIA's management library, by name or path",
                                "libnvidia-ml.so.1"));
}

/// The values of these options.
template <class Call>
Places places_of(const Call& call) {
  return {std::string(call.option_text("sensors-root")), std::string(call.option_text("nvml"))};
}

}  // namespace sensors
#pragma GCC visibility pop
