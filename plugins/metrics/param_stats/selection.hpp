// Exact order statistics of more numbers than can be kept: radix selection.
//
// The first pass counts buckets (order_keys.hpp). From then on only the intervals of keys that hold
// a wanted rank are open, at most one per rank; every pass cuts each into 65,536 cells and keeps
// the one with the rank, or sorts what is left once that is little.
#pragma once
#include <algorithm>
#include <map>
#include <memory>

#include "code_table.hpp"
#include "order_keys.hpp"

namespace param_stats {

/// f(bucket, count) for all buckets of finite numbers that have any, in rising order.
template <class F>
void each_bucket(const CodeTable& buckets, F f) {
  const auto give = [&](int32_t code) {
    const auto bucket = static_cast<uint16_t>(code);
    if (const uint64_t count = buckets[bucket]) f(bucket, count);
  };
  constexpr int32_t kTogether = CodeTable::kBlock;
  for (int32_t block = kLastBucket / kTogether * kTogether; block >= 0; block -= kTogether) {
    if (!buckets.any(static_cast<size_t>(block | kNegative))) continue;
    for (int32_t i = std::min(block + kTogether - 1, int32_t{kLastBucket}); i >= block; --i)
      give(i | kNegative);
  }
  for (int32_t block = 0; block <= kLastBucket; block += kTogether) {
    if (!buckets.any(static_cast<size_t>(block))) continue;
    for (int32_t i = block; i < block + kTogether && i <= kLastBucket; ++i) give(i);
  }
}

struct Interval {
  uint16_t bucket;
  KeyRange keys;
  uint64_t before;  // numbers below the interval
  uint64_t inside;
  /// 2^shift keys share a cell.
  int shift() const {
    int s = 0;
    while ((keys.hi - keys.lo) >> s >= int64_t{65536}) ++s;
    return s;
  }
};

/// What one pass over a part finds in one interval.
class Inside {
 public:
  Inside(const Interval& interval, bool keep)
      : lo_(interval.keys.lo), shift_(interval.shift()), keep_(keep) {}
  void add(int64_t key) {
    if (keep_) {
      kept_.push_back(key);
      return;
    }
    cells_.push_back(static_cast<uint16_t>((key - lo_) >> shift_));
    if (cells_.size() == kListed) count();
  }
  void merge(Inside& other);
  /// The key of a rank among them; only when they are kept.
  int64_t key(uint64_t rank);
  const CodeTable& cells() {
    count();
    return *table_;
  }

 private:
  static constexpr size_t kListed = 65536;  // cells are listed until a table takes as little room
  void count();

  int64_t lo_;
  int shift_;
  bool keep_;
  std::vector<int64_t> kept_;
  std::vector<uint16_t> cells_;
  std::unique_ptr<CodeTable> table_;
};

class Selection {
 public:
  /// The ranks are 0-based and rise. `keys_in(bucket)`: between which its numbers lie.
  template <class KeysIn>
  void start(const std::vector<uint64_t>& ranks, const CodeTable& buckets, KeysIn keys_in) {
    uint64_t before = 0;
    auto rank = ranks.begin();
    each_bucket(buckets, [&](uint16_t bucket, uint64_t count) {
      const auto first = rank;
      while (rank != ranks.end() && *rank < before + count) ++rank;
      if (rank != first) open_or_found({bucket, keys_in(bucket), before, count}, {first, rank});
      before += count;
    });
  }
  bool done() const { return open_.empty(); }
  const std::vector<Interval>& open() const { return open_; }
  /// Whether what the open intervals hold is little enough to be kept.
  bool keep() const;
  /// Takes in what a pass found, one for each open interval.
  void narrow(std::vector<Inside>& found);
  int64_t key(uint64_t rank) const { return found_.at(rank); }

 private:
  void open_or_found(const Interval& interval, const std::vector<uint64_t>& ranks);

  std::vector<Interval> open_;
  std::vector<std::vector<uint64_t>> ranks_;  // of each open interval
  std::map<uint64_t, int64_t> found_;         // rank → key
};

}  // namespace param_stats
