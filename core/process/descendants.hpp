// Processes that a plugin has started, with the right to or because no sandbox holds here: none of
// them outlives the run.
#pragma once
#include <sys/types.h>

#include <vector>

namespace tmeter::core {

class Descendants {
 public:
  /// Makes this process the parent of orphaned descendants. Does nothing if it already has
  /// children, as after a shell's `exec`: their orphans would be adopted, too.
  Descendants();
  ~Descendants() { end(); }
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
  /// Ends all of them, once the worker is gone. A process in an uninterruptible call ends after the
  /// call.
  void end() const;

 private:
  bool adopts_ = false;
};

}  // namespace tmeter::core
