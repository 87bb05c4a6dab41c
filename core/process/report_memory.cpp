#include "core/process/report_memory.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

namespace tmeter::core {
namespace {

constexpr unsigned kSlotShift = 32;  // a place: the slot, and the number of bytes

/// std::atomic's own waits are for the threads of one process.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  static_assert(sizeof word == sizeof value);
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

ReportMemory::ReportMemory() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) shared_ = static_cast<Shared*>(memory);
}

ReportMemory::~ReportMemory() {
  if (shared_) munmap(shared_, sizeof(Shared));
}

uint64_t ReportMemory::put(std::string_view bytes) {
  for (;;) {
    const auto released = shared_->released.load(std::memory_order_acquire);
    if (taken_ - released < kSlots) break;
    futex(shared_->released, FUTEX_WAIT, released);
  }
  const auto slot = taken_++ % kSlots;
  std::memcpy(shared_->slots[slot], bytes.data(), bytes.size());
  return uint64_t{slot} << kSlotShift | bytes.size();
}

std::optional<std::string_view> ReportMemory::at(uint64_t place) const {
  const uint64_t slot = place >> kSlotShift, size = place & 0xffff'ffff;
  if (!shared_ || slot >= kSlots || size > kSlotBytes) return std::nullopt;
  return std::string_view(shared_->slots[slot], size);
}

void ReportMemory::release() {
  shared_->released.fetch_add(1, std::memory_order_release);
  futex(shared_->released, FUTEX_WAKE, INT_MAX);
}

}  // namespace tmeter::core
