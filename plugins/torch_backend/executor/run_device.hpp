// The device a model runs on: which it is, what it is called, what time it is there.
#pragma once
#include <c10/core/Event.h>

#include <string>
#include <string_view>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// "cpu", "cuda", "cuda:1". Throws TMETER_BAD_USAGE for a device that is not here.
at::Device open_device(std::string_view text);

/// "AMD EPYC 7B13", "NVIDIA H100 80GB HBM3"; empty when the system does not say.
std::string device_name(at::Device device);

/// CLOCK_MONOTONIC
uint64_t now_ns();

/// Waits until a device has done what it was given; nothing on the CPU.
void wait_for(at::Device device);

/// The device's own clock, by events in its stream.
class DeviceClock {
 public:
  explicit DeviceClock(at::Device device);
  /// Now is `nanoseconds` of CLOCK_MONOTONIC; the device has nothing to do.
  void start(uint64_t nanoseconds);
  /// Marks this place in the stream; the number of the mark.
  size_t mark();
  /// When the mark was reached, once the device has been waited for.
  uint64_t at(size_t mark) const;

 private:
  c10::Stream stream() const;
  at::Device device_;
  uint64_t started_ = 0;
  std::vector<c10::Event> events_;  // [0] the start; used again by the next run
  size_t used_ = 0;
};

}  // namespace tmeter::torch_backend
