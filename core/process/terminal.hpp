// The one mouth: every byte that tmeter puts on standard error goes through here, in the
// supervisor. Messages become one line each, whatever is in them. A reader that stops holds nobody
// up: what it does not take waits, and no more than a bound.
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
  /// Waits until all is read. A supervisor has made sure before that there is nothing to wait for.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// "tmeter: LINE"; what was said before is not said again. Of a flood the beginning is shown.
  void message(std::string_view line);
  /// What a run came to: shown after any flood.
  void last_message(std::string_view line);
  /// Says how much of a flood is not shown, if there was one.
  void tell_unsaid();
  void progress(uint64_t done, uint64_t total, std::string_view unit);
  void clear_progress();

  bool pending() const { return writer_.pending() || !waiting_.empty(); }
  int fd() const { return writer_.fd(); }
  /// Writes what is taken at once.
  void flush();
  /// Nobody reads: what waits is forgotten.
  void give_up();

  /// All of it, to standard output, for commands without a supervisor. Throws
  /// Error(write_failure(…)).
  static void output(std::string_view bytes);

 private:
  void say(std::string_view line);
  void add(std::string_view bytes);

  StreamWriter writer_;
  std::set<size_t> said_;  // hashes
  size_t unsaid_ = 0;
  std::string waiting_;  // for the writer
  Progress progress_;
};

}  // namespace tmeter::core
