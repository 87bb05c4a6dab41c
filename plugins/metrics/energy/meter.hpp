// From readings of energy counters around runs to joules of a run and of each operator. Arithmetic
// only: no sensors, no host; used by measured.cpp and tests/unit/energy.
//
// A counter steps at its own intervals (RAPL 1 ms, NVML 100 ms), so its change over one run
// is off by up to a step at either end. Runs begin anywhere within a step, so over n runs of T
// seconds the sum is off by √(n/6) steps (the difference of two uniform errors has the variance
// 1/6), and the mean, as a share of itself, by
//
//   interval / (T · √(6 n))
//
// If runs are so short that this stays large, the mean power of all runs, from one
// reading at the start and one at the end, times the time of a run is the better estimate.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#pragma GCC visibility push(hidden)
namespace energy {

class Meter {
 public:
  explicit Meter(size_t operators, double interval = 0)
      : interval_(interval), time_(operators), activity_(operators) {}

  /// A whole run: its time, and the energy of the counters.
  void add_run(double seconds, double joules) { ++runs_, seconds_ += seconds, joules_ += joules; }
  /// From the beginning of the first run to the end of the last one.
  void set_span(double seconds, double joules) { span_seconds_ = seconds, span_joules_ = joules; }
  /// Power of the idle machine, W.
  void set_idle(double watts) { idle_ = watts; }
  /// An operator in one of the runs that observe operators: time, and processor time.
  void add_operator(size_t i, double seconds, double activity) {
    time_[i] += seconds, activity_[i] += activity;
  }

  size_t runs() const { return runs_; }
  /// Relative standard deviation of the sum over whole runs.
  double resolution() const;
  bool by_span() const;
  /// The uncertainty of the returned value.
  double uncertainty() const;

  /// J of one run; empty without runs, or if the counters did not change.
  std::optional<double> joules() const;
  std::optional<double> watts() const;
  double seconds() const { return runs_ ? seconds_ / static_cast<double>(runs_) : 0; }

  /// J of each operator, with the sum of one run. Idle power is attributed by time; the rest by
  /// processor time if `by_activity` and there is any, else also by time.
  std::vector<double> attributed(bool by_activity) const;

 private:
  double interval_;
  size_t runs_ = 0;
  double seconds_ = 0, joules_ = 0, span_seconds_ = 0, span_joules_ = 0;
  std::optional<double> idle_;
  std::vector<double> time_, activity_;
};

}  // namespace energy
#pragma GCC visibility pop
