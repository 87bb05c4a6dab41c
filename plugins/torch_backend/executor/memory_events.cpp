#include "executor/memory_events.hpp"

#include <utility>

namespace tmeter::torch_backend {

/// LibTorch's allocators report to what stands here, where its profiler usually stands.
class MemoryEvents::Reporter final : public c10::MemoryReportingInfoBase {
 public:
  Reporter(at::Device device, uint64_t limit) : device_(device), limit_(limit) { events_.reserve(256); }

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
  std::mutex mutex_;  // operators' own threads allocate too
  std::vector<MemoryEvent> events_;
  std::atomic<int64_t> used_{0};
  std::atomic<bool> beyond_{false};
};

MemoryEvents::MemoryEvents(at::Device device, uint64_t limit)
    : reporter_(std::make_shared<Reporter>(device, limit)),
      guard_(std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, reporter_)) {}

MemoryEvents::~MemoryEvents() = default;

const std::vector<MemoryEvent>& MemoryEvents::take() {
  reporter_->take(taken_);
  return taken_;
}

bool MemoryEvents::beyond_limit() const { return reporter_->beyond(); }
uint64_t MemoryEvents::used() const { return reporter_->used(); }

}  // namespace tmeter::torch_backend
