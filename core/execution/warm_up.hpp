// Decides when runs are steady: caches are filled, memory is allocated, clocks are high.
#pragma once
#include <cstddef>
#include <vector>

namespace tmeter::core {

class WarmUp {
 public:
  /// Warm-up takes about a third of `seconds` at most.
  explicit WarmUp(double seconds) : seconds_(seconds) {}
  void add(double seconds);
  /// Whether the last three runs differ by less than 5 %, or the time is up.
  bool is_done() const;
  size_t runs() const { return runs_.size(); }
  /// Whether the first run alone took more than the whole time.
  bool too_slow() const { return !runs_.empty() && runs_.front() > seconds_; }

 private:
  double seconds_, spent_ = 0;
  std::vector<double> runs_;
};

}  // namespace tmeter::core
