// Writes to a pipe, a terminal or a device without waiting for its reader.
//
// The descriptor may be shared with other programs, as standard output is, so it stays as it is:
// O_NONBLOCK would be theirs, too. Instead a timer interrupts a write that waits.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

namespace tmeter::core {

/// Bytes for a terminal: text, colours and line ends, all else spelled out. A character or a colour
/// that is split between two pieces is joined.
class TerminalText {
 public:
  /// The whole characters and lines so far; with `last`, all bytes that are left.
  std::string pass(std::string_view bytes, bool last);

 private:
  std::string incomplete_end_;
};

class StreamWriter {
 public:
  /// Does not own `fd`.
  explicit StreamWriter(int fd);
  int fd() const { return fd_; }
  bool is_terminal() const { return is_terminal_; }

  /// Takes over the next text to write. Call it only if nothing is pending.
  void put(std::string bytes);
  bool pending() const { return written_ < bytes_.size(); }
  /// Writes what the reader takes within a few milliseconds. False with errno for an error.
  bool flush();

 private:
  int fd_;
  bool is_terminal_, may_wait_;
  std::string bytes_;
  size_t written_ = 0;
};

}  // namespace tmeter::core
