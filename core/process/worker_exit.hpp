// Explains why a worker ended without finishing. From its last activity and the manner of its end
// it derives one sentence, an exit status, and the plugins to leave out. The activity may be
// damaged; the manner of the end and the participants are the supervisor's own findings. If the
// culprit is unknown – a damaged heap, a timer, a closed descriptor – these are all third-party
// plugins that took part.
#pragma once
#include <string>
#include <vector>

#include "core/process/activity.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

enum class ExitCause {
  kItself,
  kTimeout,
  kMemory,
  kBadFrame,   ///< it sent bytes that do not form a frame, or closed the pipe
  kContract,   ///< it sent a frame that is not allowed
  kLingering,  ///< it said that it had finished, and stayed
};

struct WorkerExit {
  ExitCause cause = ExitCause::kItself;
  int wait_status = 0;  ///< of waitpid
  std::string limit;    ///< that was reached, in words: "60 s (--timeout)"; of kContract the defect
  std::string subject;  ///< the model's path
  std::string engine = {};  ///< runs code of the file or the model, as reported by the worker
  std::vector<Participant> participants = {};
  bool file_shrank = false;  ///< the model's files are shorter than at the worker's start
};

/// "crashed (segmentation fault)"
std::string describe_exit(const WorkerExit& end);

Outcome explain_worker_exit(const Activity& activity, const WorkerExit& end);

/// The worker's own outcome, unless it failed for lack of memory that third-party plugins may have
/// kept: the plugin that needs memory next is not to blame.
Outcome explain_failure(const Activity& activity, const Outcome& outcome,
                        const std::vector<Participant>& participants);

}  // namespace tmeter::core
