// The output of a run: lines for the user, progress, and the bytes of reports. In a supervised run
// (core/process) the sink is the supervisor; nothing else writes to the terminal or to files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tmeter::core {

/// Any thread may call any function.
class HostSink {
 public:
  virtual ~HostSink() = default;

  /// One line for standard error, without "tmeter: ". Characters that could harm a terminal are
  /// made visible (core/base/text.hpp, `visible`).
  virtual void message(std::string_view line) = 0;

  /// Progress of long work: `done` of `total` (0: unknown) in `unit`, as in Progress::update.
  virtual void progress(uint64_t done, uint64_t total, std::string_view unit) = 0;
  virtual void progress_ended() = 0;

  /// `engine` ("LibTorch") begins to run code from the file: a time limit counts. Empty: it has
  /// ended.
  virtual void runs_file(std::string_view engine) = 0;
  /// `engine` begins to run the model for the user: only --timeout counts, and Ctrl-C leaves time
  /// to write the measurements. Empty: it has ended.
  virtual void runs_model(std::string_view engine) = 0;

  /// Appends to the target's content, which appears once the whole run has succeeded.
  virtual void report(size_t target, std::string_view bytes) = 0;
  /// The report is complete. A run that has not called this for each of its targets has failed.
  virtual void report_whole(size_t target) = 0;
};

}  // namespace tmeter::core
