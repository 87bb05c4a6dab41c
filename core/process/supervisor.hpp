// The process a user starts. It forks a worker before any thread, plugin or model is opened, and
// owns everything that must outlive the worker: the terminal, files, Ctrl-C, the limits of memory
// and time, and the explanation of a worker's death. Chromium and OpenSSH are built in the same
// way. It does not depend on models.
//
// It waits in one place (event_loop.hpp), so that neither a reader of its output nor a worker
// blocks it. It verifies each frame (frame_validator.hpp).
//
// When a plugin other than the loader ends or stalls a worker, a new worker repeats the run without
// that plugin, and the run ends with status 5.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/process/limits.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

struct Job {
  std::string subject;               ///< the model's path, also for messages; may be empty
  std::vector<std::string> targets;  ///< paths of HostSink::report's targets; "" is standard output
  Limits limits;
  bool quiet = false;
  int verbosity = 0;
  bool runs_model = false;  ///< the user wants the model run
};

/// The work of the worker. An Error thrown becomes its Outcome.
using Work = std::function<Outcome(Worker&)>;

/// Returns the exit status; all messages have been shown. Call it once, while the process has one
/// thread.
int supervise(const Job& job, const Work& work);

/// The same for a command without a model, whose output goes to a file or, when `target` is empty,
/// to standard output, with the default limits.
int supervise_command(const std::string& target, const Work& work);

}  // namespace tmeter::core
