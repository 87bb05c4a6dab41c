#include "nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <type_traits>

#include "files.hpp"

namespace sensors {
namespace {

// The declarations of nvml.h; the numbers are part of NVML's ABI.
using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kTemperatureOfGpu = 0;
constexpr unsigned kMaxDevices = 64;

struct Reason {
  unsigned long long bit;
  const char* words;
};
// nvmlClocksThrottleReason…, except idling and clocks that the user set.
constexpr std::array<Reason, 6> kReasons{{{0x4, "power cap"},
                                          {0x8, "hardware slowdown"},
                                          {0x20, "thermal, by software"},
                                          {0x40, "thermal, by hardware"},
                                          {0x80, "power brake"},
                                          {0x10, "sync boost"}}};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<size_t> gpu_of(std::string_view device) {
  constexpr std::string_view kCuda = "cuda";
  if (!device.starts_with(kCuda)) return std::nullopt;
  return number_in(device.substr(std::min(device.find(':'), device.size() - 1) + 1)).value_or(0);
}

struct Nvml::Api {
  using Handle = void*;
  struct Utilisation {
    unsigned gpu, memory;
  };
  struct MemoryInfo {
    unsigned long long total, free, used;
  };
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Handle*) = nullptr;
  // Functions that an old library may lack.
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*energy)(Handle, unsigned long long*) = nullptr;  // mJ
  int (*power)(Handle, unsigned*) = nullptr;             // mW
  int (*utilisation)(Handle, Utilisation*) = nullptr;    // %
  int (*memory)(Handle, MemoryInfo*) = nullptr;
  int (*temperature)(Handle, int, unsigned*) = nullptr;
  int (*reasons)(Handle, unsigned long long*) = nullptr;
};

namespace {

/// mJ since the driver was loaded; steps of about 100 ms.
class CountedEnergy final : public EnergyCounter {
 public:
  CountedEnergy(std::string name, const Nvml::Api& api, Handle device, unsigned long long first)
      : EnergyCounter(std::move(name), "NVML", 0.1), api_(api), device_(device), first_(first) {}
  std::optional<double> joules() override {
    unsigned long long value = 0;
    unreadable_ = unreadable_ || api_.energy(device_, &value) != kSuccess || value < first_;
    return unreadable_ ? std::nullopt : std::optional(static_cast<double>(value - first_) * 1e-3);
  }

 private:
  const Nvml::Api& api_;
  Handle device_;
  unsigned long long first_;
  bool unreadable_ = false;
};

class IntegratedPower final : public EnergyCounter {
 public:
  IntegratedPower(std::string name, const Nvml::Api& api, Handle device)
      : EnergyCounter(std::move(name), "NVML, power integrated", 0.1), api_(api), device_(device) {
    joules();
  }
  std::optional<double> joules() override {
    unsigned milliwatts = 0;
    unreadable_ = unreadable_ || api_.power(device_, &milliwatts) != kSuccess;
    if (unreadable_) return std::nullopt;
    return integral_.add(now(), milliwatts * 1e-3);
  }

 private:
  const Nvml::Api& api_;
  Handle device_;
  Integral integral_;
  bool unreadable_ = false;
};

}  // namespace

Nvml::Nvml(const std::string& library) : api_(std::make_unique<Api>()) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) {
    problem_ = "no NVML: " + library + " cannot be opened";
    return;
  }
  if (!find_functions()) {
    problem_ = "no NVML: " + library + " does not have its functions";
    return;
  }
  const int failed = api_->init();
  if (failed != kSuccess) {
    const char* words = api_->error_string ? api_->error_string(failed) : nullptr;
    problem_ = "NVML: " + (words ? std::string(words) : "error " + std::to_string(failed));
    return;
  }
  started_ = true;
  find_devices();
  if (devices_.empty()) problem_ = "NVML: no devices";
}

Nvml::~Nvml() {
  if (started_) api_->shutdown();
  if (library_) dlclose(library_);
}

bool Nvml::find_functions() {
  const auto find = [this](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library_, name));
    return function != nullptr;
  };
  find(api_->error_string, "nvmlErrorString");
  find(api_->name, "nvmlDeviceGetName");
  find(api_->energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(api_->power, "nvmlDeviceGetPowerUsage");
  find(api_->utilisation, "nvmlDeviceGetUtilizationRates");
  find(api_->memory, "nvmlDeviceGetMemoryInfo");
  find(api_->temperature, "nvmlDeviceGetTemperature");
  find(api_->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  return find(api_->init, "nvmlInit_v2") && find(api_->shutdown, "nvmlShutdown") &&
         find(api_->count, "nvmlDeviceGetCount_v2") &&
         find(api_->by_index, "nvmlDeviceGetHandleByIndex_v2");
}

void Nvml::find_devices() {
  unsigned count = 0;
  if (api_->count(&count) != kSuccess) return;
  for (unsigned i = 0; i < std::min(count, kMaxDevices); ++i) {
    Handle handle = nullptr;
    if (api_->by_index(i, &handle) != kSuccess) break;  // keeps index = number of the device
    std::array<char, 97> name{};
    if (!api_->name || api_->name(handle, name.data(), name.size() - 1) != kSuccess) name[0] = 0;
    devices_.push_back({handle, name.data()});
  }
}

GpuState Nvml::state(size_t device) const {
  const auto handle = devices_[device].handle;
  GpuState out;
  if (Api::Utilisation u{}; api_->utilisation && api_->utilisation(handle, &u) == kSuccess)
    out.utilisation = u.gpu / 100.0;
  if (Api::MemoryInfo m{}; api_->memory && api_->memory(handle, &m) == kSuccess)
    out.memory = static_cast<double>(m.used);
  if (unsigned t = 0;
      api_->temperature && api_->temperature(handle, kTemperatureOfGpu, &t) == kSuccess)
    out.temperature = t;
  if (unsigned mw = 0; api_->power && api_->power(handle, &mw) == kSuccess) out.power = mw * 1e-3;
  if (unsigned long long bits = 0; api_->reasons && api_->reasons(handle, &bits) == kSuccess) {
    for (const auto& reason : kReasons)
      if (bits & reason.bit) out.throttled.emplace_back(reason.words);
  }
  return out;
}

std::unique_ptr<EnergyCounter> Nvml::counter(size_t device) {
  const auto handle = devices_[device].handle;
  const auto name = "GPU " + std::to_string(device) +
                    (devices_[device].name.empty() ? "" : " (" + devices_[device].name + ")");
  unsigned long long first = 0;
  if (api_->energy && api_->energy(handle, &first) == kSuccess)
    return std::make_unique<CountedEnergy>(name, *api_, handle, first);
  unsigned milliwatts = 0;
  if (api_->power && api_->power(handle, &milliwatts) == kSuccess)
    return std::make_unique<IntegratedPower>(name, *api_, handle);
  return nullptr;
}

}  // namespace sensors
