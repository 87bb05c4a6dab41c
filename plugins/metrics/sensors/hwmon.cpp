#include "hwmon.hpp"

#include "files.hpp"

namespace sensors {
namespace {

std::vector<Probe> probes(const std::string& root, const std::string& beginning,
                          const std::vector<std::string>& endings, double scale) {
  std::vector<Probe> out;
  const auto folder = root + "/sys/class/hwmon";
  for (const auto& chip : names_in(folder, "hwmon")) {
    const auto path = folder + "/" + chip;
    const auto chip_name = read_line(path + "/name");
    for (const auto& file : names_in(path, beginning)) {
      const auto underscore = file.find('_');
      bool wanted = false;
      for (const auto& e : endings) wanted = wanted || file.substr(std::min(underscore, file.size())) == e;
      if (!wanted) continue;
      const auto label = read_line(path + "/" + file.substr(0, underscore) + "_label");
      Probe probe{(chip_name.empty() ? chip : chip_name) + ": " +
                      (label.empty() ? file.substr(0, underscore) : label),
                  path + "/" + file, scale};
      if (read_probe(probe)) out.push_back(std::move(probe));
    }
  }
  return out;
}

}  // namespace

std::vector<Probe> temperature_probes(const std::string& root) {
  return probes(root, "temp", {"_input"}, 1e-3);
}

std::vector<Probe> power_probes(const std::string& root) {
  return probes(root, "power", {"_input", "_average"}, 1e-6);
}

std::optional<double> read_probe(const Probe& probe) {
  const auto line = read_line(probe.file);
  const bool below = line.starts_with('-');
  const auto value = number_in(std::string_view(line).substr(below ? 1 : 0));
  if (!value) return std::nullopt;
  return static_cast<double>(*value) * (below ? -probe.scale : probe.scale);
}

std::optional<double> throttle_events(const std::string& root) {
  const auto folder = root + "/sys/devices/system/cpu";
  std::optional<double> sum;
  for (const auto& cpu : names_in(folder, "cpu")) {
    const auto count = read_number(folder + "/" + cpu + "/thermal_throttle/package_throttle_count");
    if (count) sum = std::max(sum.value_or(0), static_cast<double>(*count));
  }
  return sum;
}

}  // namespace sensors
