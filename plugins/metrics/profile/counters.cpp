#include "counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace profile {
namespace {

struct Kind {
  uint32_t type;
  uint64_t config;
};
// Indexed by Event, without processor time.
constexpr std::array<Kind, kEventCount> kKinds{
    {{},
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}}};

int open_event(const Kind& kind) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = kind.type;
  attributes.config = kind.config;
  attributes.inherit = 1;  // threads started later
  attributes.exclude_kernel = kind.type == PERF_TYPE_HARDWARE;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string reason(int error) {
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "this machine has no such counter (as most virtual machines)";
  if (error == EACCES || error == EPERM)
    return "the kernel does not permit it: perf_event_open needs --profile and "
           "/proc/sys/kernel/perf_event_paranoid of 2 or less";
  return std::string("perf_event_open: ") + std::strerror(error);
}

}  // namespace

SystemCounters::SystemCounters() {
  files_.fill(-1);
  for (size_t i = kCycles; i < kEventCount; ++i) {
    files_[i] = open_event(kKinds[i]);
    if (files_[i] < 0) missing_[i] = reason(errno);
  }
}

SystemCounters::~SystemCounters() {
  for (const int file : files_)
    if (file >= 0) close(file);
}

Readings SystemCounters::read() {
  Readings out{};
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  out[kCpuTime] =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  for (size_t i = kCycles; i < kEventCount; ++i) {
    if (files_[i] >= 0 && ::read(files_[i], &out[i], sizeof out[i]) != sizeof out[i]) out[i] = 0;
  }
  return out;
}

}  // namespace profile
