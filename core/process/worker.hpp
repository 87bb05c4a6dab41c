// The worker's side of a supervised run: the HostSink for all of its output, the sandbox, and the
// plugins that earlier attempts excluded.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/host_sink.hpp"
#include "core/process/channel.hpp"
#include "core/process/report_memory.hpp"
#include "core/process/sandbox.hpp"

namespace tmeter::core {

/// A plugin that failed, or ended or stalled a worker before: it is not called again.
struct Excluded {
  std::string plugin;  // id, or the library's path when it failed while being opened
  std::string reason;  // "crashed (segmentation fault) on metric 'macs'"
  bool opened = true;  // false: it failed before its tables could be read
  /// False: found in a plugin folder, not requested, so its failure is a note.
  bool requested = true;
  bool suspected = false;  // took part in a run that failed: tmeter's own plugins are not meant
};

/// A third-party plugin whose code has run in a worker.
struct Participant {
  std::string library, id;
};

/// How work ended: an exit status and a message, which is empty on success.
struct Outcome {
  int status = 0;
  std::string message;
  bool reports_stand = false;        ///< they are complete although the status is not 0
  std::optional<Excluded> offender;  ///< a plugin that failed: the work may be done without it
  /// Found by the supervisor: of these plugins, which are not tmeter's own, one may be to blame.
  std::vector<Excluded> suspects = {};
};

class Worker final : public HostSink {
 public:
  /// `reports`: shared memory for long ones; may be null.
  Worker(int fd, std::vector<Excluded> excluded, ReportMemory* reports = nullptr);
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void message(std::string_view line) override;
  void progress(uint64_t done, uint64_t total, std::string_view unit) override;
  void progress_ended() override;
  void runs_file(std::string_view engine) override;
  void runs_model(std::string_view engine) override;
  void report(size_t target, std::string_view bytes) override;
  void report_whole(size_t target) override;

  /// Gives up all rights that are not listed, for good; returns the restrictions in force, for
  /// --verbose.
  std::vector<std::string> enter_sandbox(const Rights& rights);

  const std::vector<Excluded>& excluded() const { return excluded_; }
  /// Code of a third-party plugin is about to run. Said over the pipe, so that the plugin cannot
  /// take it back.
  void add_participant(const Participant& plugin);
  void finish(const Outcome& outcome);

 private:
  FrameWriter frames_;
  std::vector<Excluded> excluded_;
  ReportMemory* long_reports_;
  std::mutex reports_mutex_;
  std::map<size_t, uint64_t> reported_;    // bytes for each target
  std::atomic<int64_t> last_progress_{0};  // steady clock, ns
};

/// `Worker::add_participant` of this process; does nothing where there is no worker.
void note_participant(const Participant& plugin);

}  // namespace tmeter::core
