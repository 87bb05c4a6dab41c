#include "powercap.hpp"

#include <cerrno>
#include <cstring>

#include "files.hpp"

namespace sensors {
namespace {

constexpr double kZoneInterval = 1e-3;  // Intel SDM 3B, 15.10.1: energy status is updated about each ms

class Zone final : public EnergyCounter {
 public:
  Zone(std::string name, std::string file, uint64_t first, std::optional<uint64_t> range)
      : EnergyCounter(std::move(name), "RAPL by powercap", kZoneInterval),
        file_(std::move(file)),
        last_(first),
        range_(range) {}

  std::optional<double> joules() override {
    const auto now = gone_ ? std::nullopt : read_number(file_);
    if (!now || !add(*now)) {
      gone_ = true;
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
  bool gone_ = false;
};

void add_zone(const std::string& folder, const std::string& name, EnergyCounters& out) {
  const auto path = folder + "/energy_uj";
  const auto file = read_file(path);
  if (file.error == EACCES || file.error == EPERM) {
    out.problems.push_back(path + " may be read by root alone (" + name + "): sudo chmod a+r " +
                           path);
    return;
  }
  const auto first = file ? number_in(file.text) : std::nullopt;
  if (!first) {
    out.problems.push_back(path + (file ? " holds no number" : std::string(": ") + std::strerror(file.error)));
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

}  // namespace sensors
