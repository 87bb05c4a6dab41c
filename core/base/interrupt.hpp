// Ctrl-C in a worker: while an Interrupt lives, it only sets a flag, so that work can end cleanly;
// a worker that does not end is ended by its supervisor (core/process). One at a time, on the main
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

  /// True once the user has pressed Ctrl-C. Any thread; false if no Interrupt lives.
  static bool requested();
  /// Clears the flag, so that the remaining work may run to its end.
  static void answered();

 private:
  struct sigaction before_ {};
};

}  // namespace tmeter::core
