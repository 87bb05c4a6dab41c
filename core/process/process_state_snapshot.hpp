// The state of the process that a plugin shares with all other code and must restore:
// floating-point environment, locale, working directory, umask, signal handlers, timers, resource
// limits, environment and threads. A plugin that fails to restore it is reported by name; the run
// is repeated without it in a fresh process.
#pragma once
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

namespace tmeter::core {

/// State that directly affects values and their text. Checked after every callback: no system call.
struct Arithmetic {
  uint64_t control = 0;  // of the processor: rounding, denormals, traps
  void* thread_locale = nullptr;
  bool c_numbers = true;  // "1.5", not "1,5", in C and in C++

  static Arithmetic now();
  void restore() const;
  /// "it changed the locale"; empty when both are the same.
  std::string change_to(const Arithmetic& after) const;
  bool operator==(const Arithmetic&) const = default;
};

/// The whole state. It takes about fifty system calls, so it is checked rarely, or after a first
/// violation. Both snapshots are taken in the sandbox, or both outside of it.
class ProcessStateSnapshot {
 public:
  static ProcessStateSnapshot now();
  /// "it changed the working directory", the first difference; empty without one. Waits for a
  /// thread that is just ending, unless threads may stay.
  std::string change_since(bool threads_may_stay) const;

 private:
  static constexpr int kSignals = 32;
  struct Handler {
    void (*function)(int) = nullptr;
    int flags = 0;
    bool operator==(const Handler&) const = default;
  };
  static bool left_a_thread(const std::set<pid_t>& before);

  Arithmetic arithmetic_;
  std::string locale_;
  dev_t folder_device_ = 0;
  ino_t folder_ = 0;
  mode_t mask_ = 0;
  std::array<Handler, kSignals> handlers_{};
  uint64_t blocked_ = 0;  // signals, of this thread
  std::array<uint64_t, 2 * RLIM_NLIMITS> limits_{};
  std::string timers_;
  std::string environment_;  // "NAME=VALUE", each ended by a zero byte
  std::set<pid_t> threads_;
};

}  // namespace tmeter::core
