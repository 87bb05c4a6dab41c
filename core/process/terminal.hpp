// The only writer of standard error, in the supervisor. Each message becomes one line, whatever its
// bytes. A reader that stops does not block tmeter: unread output waits in a bounded buffer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/base/progress.hpp"
#include "core/process/stream_writer.hpp"

namespace tmeter::core {

class Terminal {
 public:
  static constexpr size_t kMaxMessages = 1000;

  explicit Terminal(bool progress);
  /// Waits until all is read. In a supervisor, nothing is left to wait for.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// "tmeter: LINE"; a repeated message is shown once. Of a flood the beginning is shown.
  void message(std::string_view line);
  /// The outcome of a run: shown even after a flood.
  void last_message(std::string_view line);
  /// Says how much of a flood is not shown, if there was one.
  void report_suppressed();
  void progress(uint64_t done, uint64_t total, std::string_view unit);
  void clear_progress();

  bool pending() const { return writer_.pending() || !waiting_.empty(); }
  int fd() const { return writer_.fd(); }
  /// Writes as much as the terminal accepts at once.
  void flush();
  /// The reader is gone: discards waiting output.
  void give_up();

  /// Writes all bytes to standard output, for commands without a supervisor. Throws
  /// Error(write_failure(…)).
  static void output(std::string_view bytes);

 private:
  void show(std::string_view line);
  void add(std::string_view bytes);

  StreamWriter writer_;
  std::set<size_t> shown_;  // hashes
  size_t suppressed_ = 0;
  std::string waiting_;  // for the writer
  Progress progress_;
};

}  // namespace tmeter::core
