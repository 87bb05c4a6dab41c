// The speed of whole runs by number of threads.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace profile {

class Scaling {
 public:
  /// 1, 2, 4, … threads up to `most`, and `most` itself.
  static std::vector<int32_t> counts(int32_t most);

  void add(int32_t threads, double seconds) { runs_[threads].push_back(seconds); }
  bool empty() const { return runs_.empty(); }
  /// Median seconds by threads, rising.
  std::map<int32_t, double> times() const;
  /// The fastest number of threads; fewer if more gain less than 2 %.
  int32_t best() const;
  /// T(1) / (n T(n)) for the largest n; 0 without a run on one thread.
  double efficiency() const;

 private:
  std::map<int32_t, std::vector<double>> runs_;
};

}  // namespace profile
