// The device a model runs on: its name, its clock, its allocator.
#pragma once
#include <c10/core/Event.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// Accepts "cpu", "cuda" and "cuda:1". Throws TMETER_BAD_USAGE for a device that this machine
/// lacks.
at::Device open_device(std::string_view text);

/// "AMD EPYC 7B13", "NVIDIA H100 80GB HBM3"; empty if the system does not report it.
std::string device_name(at::Device device);

/// The value of PYTORCH_CUDA_MEMORY_FRACTION. Throws TMETER_BAD_USAGE.
double memory_fraction(std::string_view text);

/// Bytes that a run may take; 0: no limit.
struct DeviceMemoryLimit {
  uint64_t bytes = 0;
  std::string warning{};  // why the share that the user requested does not limit the run
};

/// The smaller of `limit` (bytes; 0: none) and the share of a GPU's memory that
/// PYTORCH_CUDA_MEMORY_FRACTION allows. Throws TMETER_BAD_USAGE for a share that is not above 0 and
/// at most 1. On the CPU the variable is not read.
DeviceMemoryLimit memory_limit_of(at::Device device, uint64_t limit);

/// CLOCK_MONOTONIC
uint64_t now_ns();

/// Waits until the device is idle. Does nothing on the CPU.
void wait_for(at::Device device);

/// The clock of a GPU: events in its stream.
class DeviceClock {
 public:
  explicit DeviceClock(at::Device device);
  /// Sets the current time to `nanoseconds` of CLOCK_MONOTONIC. The device must be idle.
  void start(uint64_t nanoseconds);
  /// Marks this place in the stream and returns the number of the mark.
  size_t mark();
  /// The time at which the device reached the mark. Call wait_for() first.
  uint64_t at(size_t mark) const;

 private:
  c10::Stream stream() const;
  at::Device device_;
  uint64_t started_ = 0;
  std::vector<c10::Event> events_;  // [0] is the start; reused by the next run
  size_t used_ = 0;
};

struct MemoryEvent {
  uint64_t nanoseconds;
  int64_t bytes;  // above 0: allocated; below: freed
};

/// During its lifetime, records memory of the device that this thread's operators allocate through
/// LibTorch's allocator: results and workspaces. Buffers that libraries such as oneDNN allocate
/// themselves are not seen, and freeing earlier memory is not recorded.
class MemoryEvents {
 public:
  MemoryEvents(at::Device device, uint64_t limit);
  ~MemoryEvents();
  MemoryEvents(const MemoryEvents&) = delete;
  MemoryEvents& operator=(const MemoryEvents&) = delete;

  /// The events since the last call, in order.
  const std::vector<MemoryEvent>& take();
  /// Whether more bytes are in use than the limit allows. A limit of 0 allows any number.
  bool beyond_limit() const;
  uint64_t used() const;

 private:
  class Reporter;
  std::shared_ptr<Reporter> reporter_;
  std::vector<MemoryEvent> taken_;
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

}  // namespace tmeter::torch_backend
