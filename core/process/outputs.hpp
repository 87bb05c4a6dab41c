// The destinations of a run's reports. The supervisor owns them and opens them before any work
// begins. Output appears only after the whole run has succeeded: until then files have no name, and
// streams (standard output, pipes, terminals, devices) have received nothing. A repeated attempt
// starts from empty reports.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/output_file.hpp"
#include "core/process/destination.hpp"
#include "core/process/event_loop.hpp"
#include "core/process/spool.hpp"
#include "core/process/stream_writer.hpp"

namespace tmeter::core {

/// A report for a descriptor, written without blocking on its reader.
class StreamOutput {
 public:
  /// Opens the destinations. A FIFO without a reader is opened later. Throws Error.
  explicit StreamOutput(const Destination& destination);
  Spool& spool() { return spool_; }
  /// "standard output", "report file PATH"
  const std::string& name() const { return name_; }

  bool done() const { return spool_.at_end() && (!writer_ || !writer_->pending()) && finished_; }
  /// True once a stream has received bytes, which cannot be taken back.
  bool begun() const { return begun_; }
  /// The descriptor to wait for; -1: try again after kRetry.
  int fd() const { return writer_ ? writer_->fd() : -1; }
  static constexpr auto kRetry = std::chrono::milliseconds(20);
  /// Writes as much as the reader takes. Throws Error(write_failure(…)), or BrokenPipe when the
  /// reader of standard output is gone.
  void advance();
  /// Its reader is gone.
  void give_up();

 private:
  bool try_open();
  [[noreturn]] void fail(const char* what) const;
  Destination destination_;
  std::string name_;
  Descriptor own_;
  std::unique_ptr<StreamWriter> writer_;
  TerminalText text_;
  Spool spool_;
  bool begun_ = false, finished_ = false;
};

/// Not an Error: `tmeter … | head` is proper use.
struct BrokenPipe {};

class Outputs {
 public:
  /// One target for each path; an empty one is standard output. Throws Error(write_failure(…)).
  explicit Outputs(const std::vector<std::string>& paths);
  size_t size() const { return targets_.size(); }

  /// Forgets what an attempt has written.
  void begin();
  void write(size_t target, std::string_view bytes);
  uint64_t written(size_t target) const { return targets_[target].written; }
  /// This target is complete.
  void set_whole(size_t target) { targets_[target].whole = true; }
  bool is_whole(size_t target) const { return targets_[target].whole; }

  /// Starts writing to the disk; nothing more will be written unless the run fails.
  void push();
  /// Completes the reports that go to files. Throws Error.
  void sync();
  /// The streams that have to be written, in the order of the targets.
  std::vector<StreamOutput*> streams();
  /// Files that are whole get their names. Throws Error.
  void name_files();

 private:
  struct Target {
    std::unique_ptr<OutputFile> file;
    std::unique_ptr<StreamOutput> stream;
    uint64_t written = 0;
    bool whole = false;
    bool touched = false;  // a writer has written to it, even if no byte
    /// An empty report counts as a report; a target without a write does not.
    bool appears() const { return whole && touched; }
  };
  std::vector<Target> targets_;
};

}  // namespace tmeter::core
