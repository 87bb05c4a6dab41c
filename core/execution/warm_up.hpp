// When runs take as long as they will: caches are filled, memory is there, clocks are up.
#pragma once
#include <cstddef>
#include <vector>

namespace tmeter::core {

class WarmUp {
 public:
  /// Warm-up takes about a third of `seconds` at most.
  explicit WarmUp(double seconds) : seconds_(seconds) {}
  void add(double seconds);
  /// The last three runs differ by less than 5 %, or there is no more time.
  bool is_done() const;
  size_t runs() const { return runs_.size(); }
  /// The first run alone took more than all the time there is.
  bool too_slow() const { return !runs_.empty() && runs_.front() > seconds_; }

 private:
  double seconds_, spent_ = 0;
  std::vector<double> runs_;
};

}  // namespace tmeter::core
