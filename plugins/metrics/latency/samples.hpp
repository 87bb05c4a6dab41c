// Measured times: their statistics, and whether they can be trusted.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace latency {

// Repeated measurements of one quantity, and their statistics.

/// A 95 % confidence interval of the median.
struct Interval {
  double low = 0, high = 0;
};

class Samples {
 public:
  void add(double value) { values_.push_back(value), sorted_ = false; }
  size_t count() const { return values_.size(); }
  bool empty() const { return values_.empty(); }

  /// Interpolates linearly between the two nearest (R's type 7, NumPy's default); 0 without
  /// samples.
  double quantile(double q) const;
  double median() const { return quantile(0.5); }
  /// The interval by order statistics, without assuming a distribution: ranks
  /// n/2 ∓ 1.96 √n / 2 (Conover, Practical Nonparametric Statistics, 3.2). All samples if there
  /// are fewer than six, too few for such an interval.
  Interval of_median() const;
  /// Half that interval's width as a share of the median.
  double uncertainty() const;

 private:
  void sort() const;
  mutable std::vector<double> values_;
  mutable bool sorted_ = true;
};

// Whether measured times can be trusted: the circumstances of the runs, and the reasons against
// them.

struct RunConditions {
  size_t runs = 0;
  double p5 = 0, p95 = 0;  // s, of the runs
  double median = 0;       // s
  double operators = 0;    // s, the sum of the operators' times; 0: not observed
  double others = 0;       // processors that other processes kept busy
  double processors = 0;   // processors of the machine
  double threads = 0;      // threads of the run
};

/// "only 4 runs were measured", "other processes kept 3.1 of 2 processors busy"; empty: trusted.
std::vector<std::string> distrust_reasons(const RunConditions& c);

/// The number of processors that other processes keep busy, between its construction and a later
/// moment.
class OtherProcesses {
 public:
  OtherProcesses();
  /// Empty if the machine does not report it, or too little time has passed for its clock.
  std::optional<double> busy() const;
  /// Processors of the machine, 0 if unknown.
  double processors() const { return processors_; }

 private:
  double processors_ = 0;  // first: reading all_ finds it
  std::chrono::steady_clock::time_point since_;
  double all_ = 0, own_ = 0;  // s
};

}  // namespace latency
