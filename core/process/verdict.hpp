// How the end of a worker that did not finish is told: from what it was doing and how it ended, to
// one sentence, an exit status, and the plugin to go on without.
#pragma once
#include <string>

#include "core/process/activity.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

enum class EndedBy { kItself, kTimeout, kMemory, kBadFrame };

struct WorkerEnd {
  EndedBy by = EndedBy::kItself;
  int wait_status = 0;  ///< of waitpid
  std::string limit;    ///< the limit that was reached, in words: "60 s (--timeout)"
  std::string subject;  ///< the model's path
};

Ending judge(const Activity& activity, const WorkerEnd& end);

}  // namespace tmeter::core
