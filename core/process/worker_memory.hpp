// The memory of a worker by the kernel's count, which --max-memory limits.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace tmeter::core {

/// Memory of a process without mapped files, in bytes: anonymous and shared pages, page tables, and
/// System V segments that it has created, attached or not. 0 when the process is gone.
uint64_t worker_memory(pid_t process);

}  // namespace tmeter::core
