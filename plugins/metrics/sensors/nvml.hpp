// NVIDIA's management library, opened at run time if present: energy, power, load, memory,
// temperature and throttling of each GPU. tmeter does not link it.
#pragma once
#include <string_view>

#include "energy_counters.hpp"

#pragma GCC visibility push(hidden)
namespace sensors {

/// The number of a device as PyTorch names it: 2 of "cuda:2", 0 of "cuda"; empty for others.
std::optional<size_t> gpu_of(std::string_view device);

struct GpuState {
  std::optional<double> utilisation;   ///< 0 to 1
  std::optional<double> memory;        ///< bytes in use
  std::optional<double> temperature;   ///< °C
  std::optional<double> power;         ///< W
  std::vector<std::string> throttled;  ///< reasons
};

class Nvml {
 public:
  /// `library` as for dlopen. If it or its driver is missing, there are no devices, and `problem`
  /// has the reason.
  explicit Nvml(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& problem() const { return problem_; }
  size_t count() const { return devices_.size(); }
  const std::string& name(size_t device) const { return devices_[device].name; }
  GpuState state(size_t device) const;
  /// The energy counter of one device, valid while this object lives; without one, its power,
  /// which is integrated from reading to reading, so read it often. Null: it has neither.
  std::unique_ptr<EnergyCounter> counter(size_t device);

  struct Api;

 private:
  struct Device {
    void* handle;
    std::string name;
  };
  bool find_functions();
  void find_devices();

  void* library_ = nullptr;
  std::unique_ptr<Api> api_;
  bool started_ = false;
  std::string problem_;
  std::vector<Device> devices_;
};

/// Adds `watts`, taken at `seconds`, to an energy: trapezoids.
class Integral {
 public:
  double add(double seconds, double watts) {
    if (has_last_ && seconds > last_seconds_)
      joules_ += (seconds - last_seconds_) * (watts + last_watts_) / 2;
    has_last_ = true, last_seconds_ = seconds, last_watts_ = watts;
    return joules_;
  }

 private:
  bool has_last_ = false;
  double last_seconds_ = 0, last_watts_ = 0, joules_ = 0;
};

}  // namespace sensors
#pragma GCC visibility pop
