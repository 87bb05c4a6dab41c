#include "executor/run_device.hpp"

#include <dlfcn.h>

#include <charconv>
#include <ctime>
#include <fstream>

namespace tmeter::torch_backend {
namespace {

constexpr auto kCuda = c10::DeviceType::CUDA;

const c10::impl::DeviceGuardImplInterface* cuda() {
  if (!c10::impl::hasDeviceGuardImpl(kCuda)) {
    // Beside the libraries that this plugin is linked to; its own are not linked, so that a start
    // without a GPU does not pay for them.
    dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  }
  return c10::impl::hasDeviceGuardImpl(kCuda) ? c10::impl::getDeviceGuardImpl(kCuda) : nullptr;
}

/// The text behind "KEY : " in a file of /proc.
std::string line_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return {};
}

}  // namespace

at::Device open_device(std::string_view text) {
  if (text == "cpu") return at::Device(at::kCPU);
  int index = 0;
  const bool numbered = text.starts_with("cuda:");
  const auto digits = numbered ? text.substr(5) : std::string_view("0");
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_cuda = text == "cuda" || numbered;
  if (!is_cuda || error != std::errc() || end != digits.data() + digits.size() || index < 0 || index > 127)
    throw Error(TMETER_BAD_USAGE, "'" + std::string(text) + "' is no device: cpu, cuda or cuda:N is");
  const auto* driver = cuda();
  const int count = driver ? driver->deviceCount() : 0;
  if (index < count) return {kCuda, static_cast<at::DeviceIndex>(index)};
  throw Error(TMETER_BAD_USAGE,
              count > 0 ? "this machine has no CUDA device " + std::to_string(index) + ": there are " +
                              std::to_string(count)
                        : std::string("this machine has no CUDA device") +
                              (driver ? "" : ", or the LibTorch of this tmeter is without CUDA"));
}

std::string device_name(at::Device device) {
  if (device.is_cpu()) {
    const auto name = line_of("/proc/cpuinfo", "model name");
    return name.empty() ? line_of("/proc/cpuinfo", "Hardware") : name;
  }
  // The device's properties by CUDA's runtime, which has a plain C interface; their first field is
  // the name, of 256 bytes.
  using Properties = int (*)(void*, int);
  auto* const ask = reinterpret_cast<Properties>(dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  std::array<char, 1 << 16> properties{};
  return ask && ask(properties.data(), device.index()) == 0 ? std::string(properties.data()) : "";
}

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

void wait_for(at::Device device) {
  if (!device.is_cpu()) c10::impl::getDeviceGuardImpl(device.type())->synchronizeDevice(device.index());
}

DeviceClock::DeviceClock(at::Device device) : device_(device) {}

c10::Stream DeviceClock::stream() const {
  return c10::impl::getDeviceGuardImpl(device_.type())->getStream(device_);
}

void DeviceClock::start(uint64_t nanoseconds) {
  started_ = nanoseconds;
  used_ = 0;
  mark();
}

size_t DeviceClock::mark() {
  if (used_ == events_.size()) events_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  events_[used_].record(stream());
  return used_++;
}

uint64_t DeviceClock::at(size_t mark) const {
  const double ms = mark == 0 ? 0 : events_[0].elapsedTime(events_[mark]);
  return started_ + static_cast<uint64_t>(ms * 1e6);
}

}  // namespace tmeter::torch_backend
