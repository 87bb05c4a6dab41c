// Signals that end a program. A supervisor takes them as data, so that it can end its worker and
// leave no half-written file; before there is one they end the process at once.
#pragma once
#include <signal.h>

#include <optional>

#include "core/base/descriptor.hpp"

namespace tmeter::core {

constexpr const char* kInterruptedWords = "interrupted; nothing written";

/// From now on Ctrl-C, SIGTERM and SIGHUP say so and end the process with status 130.
void exit_on_signals();
/// … together with this child; 0: with none.
void end_child_on_signals(pid_t child);

/// During its lifetime, signals stay pending until they are taken.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  int fd() const { return fd_.get(); }
  /// The next signal: SIGCHLD, or one that ends the run. Empty if none is pending.
  std::optional<int> take() const;
  /// In a worker: restores the handling of signals as tmeter found it at its start.
  void restore_in_child() const;
  /// The reader of standard output is gone: ends by SIGPIPE, as a program without a handler would,
  /// unless tmeter was started with that signal ignored.
  void end_by_broken_pipe() const;

 private:
  sigset_t before_{};
  using Action = struct sigaction;
  Action sigpipe_before_{}, sigchld_before_{};
  Descriptor fd_;
};

}  // namespace tmeter::core
