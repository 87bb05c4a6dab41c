// Temperatures and powers of /sys/class/hwmon, and counts of thermal throttling.
#pragma once
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

struct Probe {
  std::string name;  ///< "coretemp: Package id 0"
  std::string file;
  double scale;  ///< of the number in the file
};

std::vector<Probe> temperature_probes(const std::string& root);  ///< °C
std::vector<Probe> power_probes(const std::string& root);        ///< W

/// Empty if it cannot be read. Temperatures may be below 0 °C.
std::optional<double> read_probe(const Probe& probe);

/// Throttling events of all packages since the machine started; empty if they are not counted.
std::optional<double> throttle_events(const std::string& root);

}  // namespace sensors
#pragma GCC visibility pop
