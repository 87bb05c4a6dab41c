// Counters of the processor and the kernel for this process: perf events if the system permits
// them, and processor time, which is always available. They count all threads started after the
// constructor, in user space only.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace profile {

enum Event : size_t {
  kCpuTime,  // ns
  kCycles,
  kInstructions,
  kCacheReferences,
  kCacheMisses,
  kBranchMisses,
  kContextSwitches,
  kPageFaults,
  kEventCount
};
using Readings = std::array<uint64_t, kEventCount>;

class Counters {
 public:
  virtual ~Counters() = default;
  /// Why an event cannot be counted here, and the remedy. Empty if it can be counted.
  virtual std::string_view missing(Event event) const = 0;
  /// Monotonic counts; 0 for missing events.
  virtual Readings read() = 0;
};

/// Events of Linux, and CLOCK_PROCESS_CPUTIME_ID.
class SystemCounters final : public Counters {
 public:
  SystemCounters();
  ~SystemCounters() override;
  SystemCounters(const SystemCounters&) = delete;
  SystemCounters& operator=(const SystemCounters&) = delete;
  std::string_view missing(Event event) const override { return missing_[event]; }
  Readings read() override;

 private:
  std::array<int, kEventCount> files_;
  std::array<std::string, kEventCount> missing_;
};

}  // namespace profile
