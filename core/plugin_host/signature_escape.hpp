// Notes that a handler used more of the graph than its operator's signature: producers of
// arguments, the operator's position, or storage. Its value is then not shared
// (core/analysis/signatures.hpp), even if the handler promises to depend on the signature only.
//
// A global, because the graph's functions do not receive the call. One engine runs at a time.
#pragma once
#include <atomic>

namespace tmeter::core {

class SignatureEscape {
 public:
  /// Called by the functions that reveal such data, on any thread.
  static void note() { noted_.store(true, std::memory_order_relaxed); }

  /// Watches one evaluation. An escape inside a nested one counts for the outer one, too.
  class Watch {
   public:
    Watch() : before_(noted_.exchange(false, std::memory_order_relaxed)) {}
    ~Watch() {
      if (before_) note();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    bool escaped() const { return noted_.load(std::memory_order_relaxed); }

   private:
    bool before_;
  };

 private:
  static inline std::atomic<bool> noted_{false};
};

}  // namespace tmeter::core
