// When a run has taken too long or too much memory: programs need not end.
//
// Everything a program does is counted here: operators, rounds of loops, calls, and the items of
// the lists and texts it makes. Each kind of work asks `spend` for its share; the clock and the
// memory are looked at when enough has come together.
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
  /// Reads the options timeout, max-operators and max-memory of the plugin `plugin`. While it lives, it
  /// is `current()` of this thread.
  Limits(const Call& call, std::string plugin);
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  /// Those of the load or run in this thread; null outside of one.
  static Limits* current();

  /// The next run counts its own operators; time and memory are those of all runs.
  void begin_run() { seen_ = 0; }

  /// Throws when one more operator is too many. `items`: how many values it is given or makes.
  void count_operator(size_t items = 0) {
    if (++seen_ > operators_) stop_operators();
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
  /// Looks at the clock and the memory now.
  void check();

  /// Throws `error`, and keeps it: LibTorch's interpreter turns exceptions into text, and its
  /// constant folding takes them for nothing.
  [[noreturn]] void stop(const Error& error);
  /// Throws again what was once given to `stop`.
  void rethrow() const {
    if (stopped_) std::rethrow_exception(stopped_);
  }

  double seconds_left() const;

  /// How a user sets the option: "--set torch-backend.timeout".
  std::string option(std::string_view key) const {
    return "--set " + plugin_ + "." + std::string(key);
  }

  /// Tells the host what runs just now: "aten::conv2d of layer1.0". No allocation.
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
  int64_t seen_ = 0, calls_ = 0;
  uint64_t spent_ = 0;
  std::exception_ptr stopped_;
  Clock::time_point start_ = Clock::now();
};

/// Bytes of this process's own memory: resident, without what is mapped from files. 0 when the
/// system does not tell.
uint64_t own_memory();

/// What the program may use: `wanted` bytes, and less where the process itself has less left.
uint64_t memory_allowed(uint64_t wanted);

}  // namespace tmeter::torch_backend
