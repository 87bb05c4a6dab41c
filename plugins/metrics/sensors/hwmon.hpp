// Temperatures and powers of /sys/class/hwmon, and how often processors were slowed down for heat.
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

/// Empty when it cannot be read any more. Temperatures below 0 °C are told, too.
std::optional<double> read_probe(const Probe& probe);

/// Slow-downs since the machine was started, of all packages; empty where they are not counted.
std::optional<double> throttle_events(const std::string& root);

}  // namespace sensors
#pragma GCC visibility pop
