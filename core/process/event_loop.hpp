// One turn of a loop: waits until a descriptor is ready or a time is reached, and for nothing else.
// The supervisor checks its clock, signals and limits between turns.
#pragma once
#include <chrono>
#include <functional>
#include <vector>

namespace tmeter::core {

using Clock = std::chrono::steady_clock;

struct PolledDescriptor {
  int fd = -1;       ///< below 0: passed over
  short events = 0;  ///< as of poll
  std::function<void()> on_ready;
};

/// Calls `on_ready` of each descriptor that is ready, hung up or broken. Returns at `until`, after
/// a signal, or as soon as something was ready.
void wait_for(const std::vector<PolledDescriptor>& watched, Clock::time_point until);

/// `seconds` from now; now for 0 or less.
Clock::time_point in_seconds(double seconds);

}  // namespace tmeter::core
