// Turns a freshly forked process into a worker: it detaches from the terminal and from open files,
// records how it ends, sets its limits, does its work, and exits.
#pragma once
#include <vector>

#include "core/process/supervisor.hpp"

namespace tmeter::core {

struct WorkerStart {
  int frames, stray;  // ends of pipes: for frames, and for output of plugins
  uint64_t memory;    // limit in bytes
  ReportMemory* reports;
};

[[noreturn]] void become_worker(const WorkerStart& start, const Work& work,
                                const std::vector<Excluded>& excluded);

}  // namespace tmeter::core
