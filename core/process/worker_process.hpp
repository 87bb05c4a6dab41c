// A worker as its supervisor sees it: a child process and the ends of two pipes.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/process/end_signals.hpp"
#include "core/process/report_memory.hpp"
#include "core/process/supervisor.hpp"

namespace tmeter::core {

class WorkerProcess {
 public:
  /// Forks. `checks_process_state`: the process state is checked after each callback. Throws
  /// Error(kRun).
  WorkerProcess(const Job& job, const Work& work, const EndSignals& signals,
                const std::vector<Excluded>& excluded, bool checks_process_state);
  ~WorkerProcess();  ///< ends it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int frames() const { return frames_.get(); }       ///< not blocking
  int stray_output() const { return stray_.get(); }  ///< not blocking
  ReportMemory& long_reports() { return long_reports_; }

  void request_stop() const;
  /// Kills it and the rest of its process group.
  void end() const;
  /// Whether it has ended. Does not wait.
  bool has_ended();
  /// The status that waitpid returned. Valid once the worker has ended.
  int wait_status() const { return wait_status_; }
  uint64_t memory() const;

 private:
  ReportMemory long_reports_;
  Descriptor frames_, stray_;
  pid_t process_ = -1;
  bool ended_ = false;
  int wait_status_ = 0;
};

}  // namespace tmeter::core
