// What a freshly forked process does to become a worker: it lets go of the terminal and of open
// files, arranges that its end is explained, takes its limits, works, and is gone.
#pragma once
#include <vector>

#include "core/process/supervisor.hpp"

namespace tmeter::core {

struct WorkerStart {
  int frames, stray;  // ends of pipes: to speak, and for what plugins print
  uint64_t memory;    // limit in bytes
  ReportMemory* reports;
};

[[noreturn]] void become_worker(const WorkerStart& start, const Work& work,
                                const std::vector<Excluded>& excluded);

}  // namespace tmeter::core
