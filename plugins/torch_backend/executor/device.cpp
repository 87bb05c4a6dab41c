#include "executor/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>

namespace tmeter::torch_backend {
namespace {

constexpr auto kCuda = c10::DeviceType::CUDA;

const c10::impl::DeviceGuardImplInterface* cuda() {
  if (!c10::impl::hasDeviceGuardImpl(kCuda)) {
    // Loaded on demand from the folder of LibTorch: linking it would slow every start without a
    // GPU.
    dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  }
  return c10::impl::hasDeviceGuardImpl(kCuda) ? c10::impl::getDeviceGuardImpl(kCuda) : nullptr;
}

/// The text after "KEY : " in a file of /proc.
std::string line_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
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
  if (!is_cuda || error != std::errc() || end != digits.data() + digits.size() || index < 0 ||
      index > 127)
    throw Error(TMETER_BAD_USAGE,
                "'" + std::string(text) + "' is not a device; give cpu, cuda or cuda:N");
  const auto* driver = cuda();
  const int count = driver ? driver->deviceCount() : 0;
  if (index < count) return {kCuda, static_cast<at::DeviceIndex>(index)};
  throw Error(TMETER_BAD_USAGE,
              count > 0
                  ? "this machine has no CUDA device " + std::to_string(index) + ": there are " +
                        std::to_string(count)
                  : std::string("this machine has no CUDA device") +
                        (driver ? "" : ", or the LibTorch of this tmeter is built without CUDA"));
}

std::string device_name(at::Device device) {
  if (device.is_cpu()) {
    const auto name = line_of("/proc/cpuinfo", "model name");
    return name.empty() ? line_of("/proc/cpuinfo", "Hardware") : name;
  }
  // CUDA's runtime has a plain C interface. The first field of a device's properties is its name,
  // blocks of 256 bytes.
  using Properties = int (*)(void*, int);
  auto* const query = reinterpret_cast<Properties>(dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  std::array<char, 1 << 16> properties{};
  return query && query(properties.data(), device.index()) == 0 ? std::string(properties.data())
                                                                : "";
}

double memory_fraction(std::string_view text) {
  double share = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, share);
  if (parsed.ec == std::errc() && parsed.ptr == end && share > 0 && share <= 1) return share;
  throw Error(TMETER_BAD_USAGE, "PYTORCH_CUDA_MEMORY_FRACTION='" + std::string(text) +
                                    "': a share above 0 and at most 1 is expected, as in 0.5");
}

DeviceMemoryLimit memory_limit_of(at::Device device, uint64_t limit) {
  const char* text = std::getenv("PYTORCH_CUDA_MEMORY_FRACTION");
  if (device.is_cpu() || !text || !*text) return {limit};
  const double share = memory_fraction(text);
  using Query = int (*)(size_t * free, size_t * total);
  auto* const query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
  size_t free = 0, total = 0;
  const c10::DeviceGuard guard(device);
  if (!query || query(&free, &total) != 0)
    return {
        limit,
        "PYTORCH_CUDA_MEMORY_FRACTION does not limit the run: CUDA does not report the memory of " +
            device.str() + " has; --max-memory limits it in bytes"};
  const auto allowed = static_cast<uint64_t>(share * static_cast<double>(total));
  return {limit == 0 ? allowed : std::min(limit, allowed)};
}

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

void wait_for(at::Device device) {
  if (!device.is_cpu())
    c10::impl::getDeviceGuardImpl(device.type())->synchronizeDevice(device.index());
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
  if (used_ == events_.size())
    events_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  events_[used_].record(stream());
  return used_++;
}

uint64_t DeviceClock::at(size_t mark) const {
  const double ms = mark == 0 ? 0 : events_[0].elapsedTime(events_[mark]);
  return started_ + static_cast<uint64_t>(ms * 1e6);
}

/// LibTorch's allocators report to this object instead of its profiler.
class MemoryEvents::Reporter final : public c10::MemoryReportingInfoBase {
 public:
  Reporter(at::Device device, uint64_t limit) : device_(device), limit_(limit) {
    events_.reserve(256);
  }

  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, at::Device device) override {
    if (bytes == 0 || device.type() != device_.type()) return;
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    if (limit_ > 0 && used_ > static_cast<int64_t>(limit_)) beyond_ = true;
    events_.push_back({now_ns(), bytes});
  }
  bool memoryProfilingEnabled() const override { return true; }

  void take(std::vector<MemoryEvent>& out) {
    const std::lock_guard lock(mutex_);
    out.clear();
    std::swap(out, events_);
  }
  bool beyond() const { return beyond_; }
  uint64_t used() const { return static_cast<uint64_t>(used_.load()); }

 private:
  at::Device device_;
  uint64_t limit_;
  std::mutex mutex_;  // threads of operators allocate too
  std::vector<MemoryEvent> events_;
  std::atomic<int64_t> used_{0};
  std::atomic<bool> beyond_{false};
};

MemoryEvents::MemoryEvents(at::Device device, uint64_t limit)
    : reporter_(std::make_shared<Reporter>(device, limit)),
      guard_(std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, reporter_)) {
}

MemoryEvents::~MemoryEvents() = default;

const std::vector<MemoryEvent>& MemoryEvents::take() {
  reporter_->take(taken_);
  return taken_;
}

bool MemoryEvents::beyond_limit() const { return reporter_->beyond(); }
uint64_t MemoryEvents::used() const { return reporter_->used(); }

}  // namespace tmeter::torch_backend
