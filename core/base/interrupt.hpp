// Ctrl-C in a worker: while an Interrupt lives, it only sets a flag, so that work can end cleanly;
// a worker that does not is ended by its supervisor (core/process). One at a time, on the main
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

  /// True once the user has asked to stop. Any thread; false when no Interrupt lives.
  static bool requested();
  /// The request is fulfilled: the remaining work may run to its end.
  static void answered();

 private:
  struct sigaction before_ {};
};

}  // namespace tmeter::core
