// When a run has taken too long: programs need not end.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::torch_backend {

class Limits {
 public:
  Limits(const Call& call, double seconds, int64_t operators)
      : call_(call), seconds_(seconds), operators_(operators) {}

  /// The next run counts its own operators; the time is that of all runs.
  void begin_run() { seen_ = 0; }

  /// Throws when one more operator, or one more round of a loop, is too many.
  void count_operator() {
    if (++seen_ > operators_) {
      stop("has run " + std::to_string(operators_) + " operators without coming to an end",
           "max-operators");
    }
    if (seen_ % 64 == 0) check_time();
  }
  void count_round() {
    if (++rounds_ % 1024 == 0) check_time();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void check_time() const {
    if (call_.cancelled()) throw Error(TMETER_CANCELLED, "stopped by the user");
    if (std::chrono::duration<double>(Clock::now() - start_).count() < seconds_) return;
    stop("has run for " + std::to_string(static_cast<int64_t>(seconds_)) +
             " seconds without coming to an end",
         "timeout");
  }
  [[noreturn]] static void stop(const std::string& what, const std::string& option) {
    throw Error(TMETER_CANNOT_RUN,
                "the model " + what + " (raise it with --set torch-backend." + option + "=N)");
  }

  const Call& call_;
  double seconds_;
  int64_t operators_;
  int64_t seen_ = 0, rounds_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace tmeter::torch_backend
