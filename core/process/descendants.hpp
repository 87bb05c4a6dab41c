// Processes that a plugin has started, with the right to or because no sandbox holds here: none of
// them outlives the run.
#pragma once
#include <sys/types.h>

#include <vector>

namespace tmeter::core {

class Descendants {
 public:
  /// From now on processes whose parents end become children of this one, unless it has children
  /// already, as after a shell's `exec`: theirs would come, too.
  Descendants();
  ~Descendants() { end(); }
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
  /// Ends all of them, once the worker is gone. A process in an uninterruptible call ends after the call.
  void end() const;

 private:
  bool adopts_ = false;
};

}  // namespace tmeter::core
