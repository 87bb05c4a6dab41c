// Readings of /proc about processors, this process, disks and networks. Readings, not rates.
// A missing or malformed reading is empty.
#pragma once
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

struct CpuTimes {
  double busy = 0, total = 0;  ///< ticks since the machine was started
};
/// By processor, in the order of their numbers.
std::vector<CpuTimes> cpu_times(const std::string& root);
/// Hz, by processor; of cpufreq, else of /proc/cpuinfo.
std::vector<double> cpu_frequencies(const std::string& root);

struct ProcessState {
  std::optional<double> resident, peak;       ///< bytes
  std::optional<double> minor_faults, major_faults;
  std::optional<double> read, written;        ///< bytes that came from and went to disks
};
ProcessState process_state(const std::string& root);

struct Traffic {
  std::optional<double> in, out;  ///< bytes since the machine was started
};
Traffic disk_traffic(const std::string& root);     ///< of all disks
Traffic network_traffic(const std::string& root);  ///< of all interfaces but the loopback

}  // namespace sensors
#pragma GCC visibility pop
