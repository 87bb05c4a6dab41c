// Ctrl-C during long work: while an Interrupt lives, the first one only sets a flag, so that the
// work can end cleanly; a second one ends the program as usual. One at a time, on the main thread.
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

 private:
  struct sigaction before_ {};
};

}  // namespace tmeter::core
