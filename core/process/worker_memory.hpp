// How much memory a worker takes, as far as the kernel tells: what --max-memory is compared with.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace tmeter::core {

/// Bytes a process has in memory that are no mapped files: its own pages, shared ones, their page
/// tables, and System V segments that it has made, attached or not. 0 when it is gone.
uint64_t worker_memory(pid_t process);

}  // namespace tmeter::core
