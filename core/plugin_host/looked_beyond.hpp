// Whether a plugin has looked at more of the graph than the operator it was asked about: who made
// its arguments, where it stands, what is stored where. What it says then need not hold for another
// operator like it (core/analysis/signatures.hpp), whatever its handler promises.
#pragma once
#include <atomic>

namespace tmeter::core {

/// Set by the functions of the graph that show such things, on any thread.
inline std::atomic<bool> looked_beyond{false};

inline void look_beyond() { looked_beyond.store(true, std::memory_order_relaxed); }

/// Tells of what happens while it lives; what was looked at inside counts for what is around it.
class BeyondWatch {
 public:
  BeyondWatch() : before_(looked()) { looked_beyond.store(false, std::memory_order_relaxed); }
  ~BeyondWatch() {
    if (before_) look_beyond();
  }
  BeyondWatch(const BeyondWatch&) = delete;
  BeyondWatch& operator=(const BeyondWatch&) = delete;
  static bool looked() { return looked_beyond.load(std::memory_order_relaxed); }

 private:
  bool before_;
};

}  // namespace tmeter::core
