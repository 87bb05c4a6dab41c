// Whether measured times can be trusted: the circumstances of the runs, and the reasons against them.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace latency {

struct Circumstances {
  size_t runs = 0;
  double p5 = 0, p95 = 0;      // s, of the runs
  double median = 0;           // s
  double operators = 0;        // s, the sum of the operators' times; 0: not observed
  double others = 0;           // processors that other processes kept busy
  double processors = 0;       // of the machine
  double threads = 0;          // of the run
};

/// "only 4 runs were measured", "other processes kept 3.1 of 2 processors busy"; empty: trusted.
std::vector<std::string> doubts(const Circumstances& c);

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
