// Detects a handler that reads more of the graph than its operator: producers of arguments, module
// calls, places of tensors. Its value then need not hold for another operator of the same signature
// (core/analysis/signatures.hpp), whatever the handler promises.
#pragma once
#include <atomic>

namespace tmeter::core {

/// Set by the functions of the graph that show such things, on any thread.
inline std::atomic<bool> looked_beyond{false};

inline void look_beyond() { looked_beyond.store(true, std::memory_order_relaxed); }

/// Watches while it lives. What an inner watch sees counts for the outer one, too.
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
