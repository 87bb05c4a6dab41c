// Ctrl-C in a worker: during the lifetime of an Interrupt it only sets a flag, so that work can end
// cleanly. The supervisor (core/process) ends a worker that goes on. One at a time, on the main
// thread.
#pragma once
#include <signal.h>

namespace tmeter::core {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True once the user has pressed Ctrl-C. Any thread; false without an Interrupt.
  static bool requested();
  /// Clears the flag, so that the remaining work may run to its end.
  static void answered();

 private:
  struct sigaction before_ {};
};

}  // namespace tmeter::core
