// Memory that a worker shares with its supervisor, for long pieces of reports. A short frame
// announces each piece. It is copied once; through the pipe it would be copied twice, page by page.
// The worker fills slots in turn and waits for one that the supervisor has released. Like pipe
// traffic, this memory is untrusted.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tmeter::core {

class ReportMemory {
 public:
  static constexpr size_t kSlots = 4, kSlotBytes = size_t{512} << 10;
  static constexpr size_t kLong = size_t{64} << 10;  // shorter pieces go through the pipe

  /// Maps the memory, before the fork; pages are allocated on use. `there` is false if that fails.
  ReportMemory();
  ~ReportMemory();
  ReportMemory(const ReportMemory&) = delete;
  ReportMemory& operator=(const ReportMemory&) = delete;
  bool there() const { return shared_ != nullptr; }

  /// The worker, one thread at a time: waits for a slot and copies at most kSlotBytes into it.
  /// Returns their location.
  uint64_t put(std::string_view bytes);

  /// Supervisor: the bytes at a location from a frame, valid until released. Empty if the
  /// location is invalid.
  std::optional<std::string_view> at(uint64_t place) const;
  void release();

 private:
  struct Shared {
    std::atomic<uint32_t> released;  // slots, since the beginning
    alignas(4096) char slots[kSlots][kSlotBytes];
  };
  Shared* shared_ = nullptr;
  uint32_t taken_ = 0;  // by the worker
};

}  // namespace tmeter::core
