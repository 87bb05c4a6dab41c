// Values by rank without sorting. An interval of keys (order_keys.hpp) holds some of the wanted
// ranks; each pass over the tensor divides it into 65,536 cells and continues with the cell of each
// rank, or sorts its keys once they are few. A bucket of float32 has 65,536 keys: one
// pass. float64 takes at most three.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "histogram.hpp"
#include "order_keys.hpp"

namespace param_stats {

struct BucketCount {
  uint16_t bucket;
  KeyRange keys;  // keys of the values in it
  uint64_t count;
};

struct Interval {
  uint16_t bucket;
  KeyRange keys;
  uint64_t before;  // values below the interval
  uint64_t inside;
  /// 2^shift keys share a cell.
  int shift() const {
    int s = 0;
    while ((keys.hi - keys.lo) >> s >= int64_t{65536}) ++s;
    return s;
  }
};

/// The keys that one pass over a part finds in one interval.
class IntervalKeys {
 public:
  /// `keep`: all keys; otherwise only their number per cell.
  IntervalKeys(const Interval& interval, bool keep)
      : lo_(interval.keys.lo), shift_(interval.shift()), keep_(keep) {}
  void add(int64_t key) {
    if (keep_) {
      kept_.push_back(key);
      return;
    }
    cells_.push_back(static_cast<uint16_t>((key - lo_) >> shift_));
    if (cells_.size() == kListedCells) count();
  }
  void merge(IntervalKeys& other);
  /// The key of a rank among them; requires `keep`.
  int64_t key(uint64_t rank);
  const Histogram16& cells() {
    count();
    return *histogram_;
  }

 private:
  static constexpr size_t kListedCells = 65536;  // a histogram takes more room than fewer
  void count();

  int64_t lo_;
  int shift_;
  bool keep_;
  std::vector<int64_t> kept_;
  std::vector<uint16_t> cells_;
  std::unique_ptr<Histogram16> histogram_;
};

class RankSelection {
 public:
  RankSelection() = default;
  /// Ranks are 0-based and rise, as do the buckets' keys.
  RankSelection(const std::vector<uint64_t>& ranks, const std::vector<BucketCount>& buckets);

  bool done() const { return open_.empty(); }
  const std::vector<Interval>& open() const { return open_; }
  /// Whether the open intervals have so few values that all keys are kept.
  bool keep() const;
  /// Adds the results of a pass, one for each open interval.
  void narrow(std::vector<IntervalKeys>& found);
  /// Requires done().
  int64_t key(uint64_t rank) const { return found_.at(rank); }

 private:
  void open_or_found(const Interval& interval, const std::vector<uint64_t>& ranks);

  std::vector<Interval> open_;
  std::vector<std::vector<uint64_t>> ranks_;  // ranks in each open interval
  std::map<uint64_t, int64_t> found_;         // rank → key
};

}  // namespace param_stats
