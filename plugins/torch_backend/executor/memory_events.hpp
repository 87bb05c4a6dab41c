// What LibTorch's allocators give and take while a run goes on.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/run_device.hpp"
#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct MemoryEvent {
  uint64_t nanoseconds;
  int64_t bytes;  // above 0: given
};

/// While it lives, memory of the device that this thread's operators ask for is noted: results and
/// workspaces, as far as LibTorch's own allocator gives them (libraries like oneDNN have buffers of
/// their own). Memory from before is not noted when it goes.
class MemoryEvents {
 public:
  MemoryEvents(at::Device device, uint64_t limit);
  ~MemoryEvents();
  MemoryEvents(const MemoryEvents&) = delete;
  MemoryEvents& operator=(const MemoryEvents&) = delete;

  /// Those since the last call, in order.
  const std::vector<MemoryEvent>& take();
  /// More bytes are in use at once than the limit (above 0) allows.
  bool beyond_limit() const;
  uint64_t used() const;

 private:
  class Reporter;
  std::shared_ptr<Reporter> reporter_;
  std::vector<MemoryEvent> taken_;
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

}  // namespace tmeter::torch_backend
