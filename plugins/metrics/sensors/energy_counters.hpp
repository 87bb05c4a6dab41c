// Counters of joules: of processor packages and their memory (RAPL, by powercap or perf), of GPUs
// (NVML). All count up from 0 at opening and hide overflows of the hardware's counters.
//
// One thread at a time. A counter that vanishes or returns an impossible value has no readings from
// then on.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Joules since it was opened; once it cannot be read, empty for ever.
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

/// The places to search. Tests name a folder with trees of their own, and a library.
struct Places {
  std::string root;  ///< before "/sys" and "/proc"
  std::string nvml = "libnvidia-ml.so.1";
};

/// Counters of powercap, and those of perf that powercap lacks. Without GPUs.
EnergyCounters processor_counters(const Places& places);

}  // namespace sensors
#pragma GCC visibility pop
