// Explains the end of a worker that did not finish: from what it was doing and how it ended, to one
// sentence, an exit status, and the plugins to go on without. Where it is not known whose fault it
// was – the heap was damaged, a timer went off, a descriptor was closed – those are all that are not
// tmeter's own and took part.
#pragma once
#include <string>

#include "core/process/activity.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

enum class EndedBy {
  kItself,
  kTimeout,
  kMemory,
  kBadFrame,   ///< it sent bytes that do not form a frame, or closed the pipe
  kContract,   ///< it said what it may not say
  kLingering,  ///< it said that it had finished, and stayed
};

struct WorkerEnd {
  EndedBy by = EndedBy::kItself;
  int wait_status = 0;  ///< of waitpid
  std::string limit;    ///< that was reached, in words: "60 s (--timeout)"; of kContract the defect
  std::string subject;  ///< the model's path
};

/// "crashed (segmentation fault)"
std::string what_happened(const WorkerEnd& end);

Ending explain_worker_exit(const Activity& activity, const WorkerEnd& end);

}  // namespace tmeter::core
