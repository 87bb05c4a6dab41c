// Readings of /proc and /sys, not rates. A missing or malformed reading is empty.
#pragma once
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

// Readings from /proc about processors, this process, disks and networks.

struct CpuTimes {
  double busy = 0, total = 0;  ///< ticks since the machine was started
};
/// One per processor, in the order of their numbers.
std::vector<CpuTimes> cpu_times(const std::string& root);
/// Hz, by processor; of cpufreq, else of /proc/cpuinfo.
std::vector<double> cpu_frequencies(const std::string& root);

struct ProcessState {
  std::optional<double> resident, peak;  ///< bytes
  std::optional<double> minor_faults, major_faults;
  std::optional<double> read, written;  ///< bytes that came from and went to disks
};
ProcessState process_state(const std::string& root);

struct Traffic {
  std::optional<double> in, out;  ///< bytes since the machine was started
};
Traffic disk_traffic(const std::string& root);     ///< of all disks
Traffic network_traffic(const std::string& root);  ///< of all interfaces but the loopback

// Temperatures and powers of /sys/class/hwmon, and counts of thermal throttling.

struct Probe {
  std::string name;  ///< "coretemp: Package id 0"
  std::string file;
  double scale;  ///< factor for the number in the file
};

std::vector<Probe> temperature_probes(const std::string& root);  ///< °C
std::vector<Probe> power_probes(const std::string& root);        ///< W

/// Empty if it cannot be read. Temperatures may be below 0 °C.
std::optional<double> read_probe(const Probe& probe);

/// Throttling events of all packages since the machine started; empty if they are not counted.
std::optional<double> throttle_events(const std::string& root);

}  // namespace sensors
#pragma GCC visibility pop
