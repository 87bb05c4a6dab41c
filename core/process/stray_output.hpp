// The output that a worker's plugins and libraries print themselves: each line becomes a message
// with the plugin's name. Only the first lines are shown.
#pragma once
#include <sys/types.h>

#include <string>

#include "core/process/terminal.hpp"

namespace tmeter::core {

class StrayOutput {
 public:
  explicit StrayOutput(bool quiet) : quiet_(quiet) {}
  /// Reads pending output without waiting. False once the other end is closed.
  bool read(int fd, Terminal& terminal);
  /// Reads the rest and reports the number of omitted lines.
  void finish(int fd, Terminal& terminal);

 private:
  /// Bytes read now; 0: the other end is closed; below 0: no input, or an error (errno).
  ssize_t take(int fd, Terminal& terminal);
  /// An unterminated line ends when another plugin starts to print.
  void switch_speaker(const std::string& speaker, Terminal& terminal);
  void end_line(Terminal& terminal);
  bool quiet_;
  size_t lines_ = 0;
  std::string speaker_, pending_;
};

}  // namespace tmeter::core
