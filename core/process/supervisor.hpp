// The process a user starts. It forks a worker before any thread, plugin or model is opened and
// does what must outlive it: the terminal, files, Ctrl-C, limits of memory and time, and the last
// word when the worker dies. As in Chromium and OpenSSH; it knows nothing of models.
//
// It waits in one place (event_loop.hpp), so that nothing holds it up: not a reader of its output,
// not a worker. It believes nothing that it can find out (frame_validator.hpp).
//
// When a plugin that only adds to the report (it is not what reads the model) ends or stalls a
// worker, a new one does the work again without that plugin, and the run ends with status 5.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/process/limits.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

struct Job {
  std::string subject;               ///< the model's path, for messages; may be empty
  std::vector<std::string> targets;  ///< paths of HostSink::report's targets; "" is standard output
  Limits limits;
  bool quiet = false;
  int verbosity = 0;
  bool runs_model = false;  ///< the user wants the model run
};

/// What the worker does. An Error thrown becomes its Ending.
using Work = std::function<Ending(Worker&)>;

/// Returns the exit status; whatever there is to say has been said. Call it once, while the process
/// has one thread.
int supervise(const Job& job, const Work& work);

/// The same for a command without a model, whose output goes to a file or, when `target` is empty,
/// to standard output, with the default limits.
int supervise_command(const std::string& target, const Work& work);

}  // namespace tmeter::core
