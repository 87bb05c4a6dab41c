// Limits of time, memory, operators and threads for a run, because a program need not end.
//
// Everything a program does is counted here: operators, iterations of loops, calls, and the items
// of the lists and strings it creates. `spend` collects the cost; each time enough has accumulated,
// the clock and the memory are checked.
#pragma once
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::torch_backend {

class Limits {
 public:
  /// Reads the options timeout, max-operators and max-memory of the plugin `plugin`. While it
  /// lives, it is `current()` of this thread.
  Limits(const Call& call, std::string plugin);
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  /// The limits of the load or run in this thread; null outside of one.
  static Limits* current();

  /// Operators are counted per run, time and memory over all runs.
  void begin_run() { operator_count_ = 0; }

  /// Throws if one more operator exceeds the limit. `items`: the number of its arguments, lists by
  /// items.
  void count_operator(size_t items = 0) {
    if (++operator_count_ > operators_) stop_operators();
    spend(kOperator + items);
  }
  void count_round() { spend(kRound); }
  void count_call() {
    if (++calls_ > kMaxCalls) stop_calls();
    spend(kRound);
  }
  /// Work in units of about 10 ns.
  void spend(uint64_t units) {
    spent_ += units;
    if (spent_ >= kUnitsPerCheck) check();
  }
  /// Checks the clock and the memory now.
  void check();

  /// Throws `error` and keeps it, because LibTorch's interpreter turns exceptions into text and its
  /// constant folding swallows them.
  [[noreturn]] void stop(const Error& error);
  /// Throws the error again that `stop` was called with, if it was.
  void rethrow() const {
    if (stopped_) std::rethrow_exception(stopped_);
  }

  double seconds_left() const;

  /// How a user sets the option: "--set torch-backend.timeout".
  std::string option(std::string_view key) const {
    return "--set " + plugin_ + "." + std::string(key);
  }

  /// Reports the current operator to the host: "aten::conv2d of layer1.0". Does not allocate.
  void at(std::string_view op, std::string_view module) const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kUnitsPerCheck = 100'000;  // about a millisecond
  static constexpr uint64_t kOperator = 1000, kRound = 10;
  static constexpr int64_t kMaxCalls = 10'000'000;  // as many module calls as a graph may have

  void check_memory();
  [[noreturn]] void stop_operators();
  [[noreturn]] void stop_calls();

  const Call& call_;
  std::string plugin_;
  Limits* outer_;
  double seconds_;
  int64_t operators_;
  uint64_t memory_;  // bytes that the process may grow by
  uint64_t memory_before_;
  int64_t operator_count_ = 0, calls_ = 0;
  uint64_t spent_ = 0;
  std::exception_ptr stopped_;
  Clock::time_point start_ = Clock::now();
};

/// Resident bytes of this process without mapped files; 0 if the system does not report them.
uint64_t own_memory();

/// How many bytes the program may use: `requested`, or fewer if the limits of the process leave
/// fewer.
uint64_t memory_allowed(uint64_t requested);

/// The number of `requested` threads that can run at once, including this one. Starts them and
/// joins them, because LibTorch's runtime ends the process if a thread does not start.
int threads_that_start(unsigned requested);

}  // namespace tmeter::torch_backend
