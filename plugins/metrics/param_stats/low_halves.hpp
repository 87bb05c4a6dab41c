// How often each byte of the lower half of float32 occurs, or of another half or quarter of wider
// elements.
//
// Both bytes are counted as one code, which halves the stores; 65,536 counters of a byte each fit
// the first cache, but for a little. What a counter cannot hold any more goes to the bytes' counts.
//
// To look at each counter whether it is full takes a fifth of the time, and of real weights none is
// before a part is through. So a stretch of numbers is counted without: where a counter ran over,
// all of them together have 256 less than they should. Then the stretch is taken back and counted
// again, and what follows with a look at each.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace param_stats {

class LowHalves {
 public:
  using Plane = std::array<uint64_t, 256>;
  enum Way { kTested, kUntested, kTakenBack };

  LowHalves() : counters_(kCodes) {}
  Way way() const { return way_; }
  uint8_t* counters() { return counters_.data(); }
  /// A counter has become 0.
  void wrapped(uint16_t code) {
    add(code, 256);
    held_ -= 256;
  }
  /// Zeros, which the counters do not know of, and `counted` that they do: in the given way.
  void add_zeros(uint64_t zeros, uint64_t counted, Way way) {
    const bool back = way == kTakenBack;
    add(0, back ? 0 - zeros : zeros);
    held_ += back ? 0 - counted : counted;
  }

  /// Counts n numbers, in stretches: `look(begin, end)` counts those of one in the way() of the
  /// moment, `again(begin, end)` as well, when it has been looked at before.
  template <class Look>
  void count(size_t n, Look look) {
    count(n, look, look);
  }
  template <class Look, class Again>
  void count(size_t n, Look look, Again again) {
    for (size_t begin = 0, end; begin < n; begin = end) {
      end = std::min(n, begin + stretch_);
      const bool tested = ran_over_ || end - begin < kFirstStretch;
      way_ = tested ? kTested : kUntested;
      if (!tested) make_room();
      look(begin, end);
      if (tested) continue;
      stretch_ = kStretch;
      ran_over_ = ran_over();
      if (!ran_over_) continue;
      for (const Way way : {kTakenBack, kTested}) {
        way_ = way;
        again(begin, end);
      }
    }
    way_ = kTested;
  }

  void merge(const LowHalves& o) {
    Plane low, high;
    o.planes(low, high);
    for (size_t i = 0; i < low.size(); ++i) low_[i] += low[i], high_[i] += high[i];
  }
  void planes(Plane& low, Plane& high) const {
    low = low_;
    high = high_;
    for (size_t h = 0; h < high.size(); ++h) {
      const uint8_t* row = counters_.data() + 256 * h;
      uint64_t sum = 0;
      for (size_t i = 0; i < low.size(); ++i) low[i] += row[i], sum += row[i];
      high[h] += sum;
    }
  }

 private:
  static constexpr size_t kCodes = 65536;
  // Numbers that share a look at all counters. The first are few, as most tensors that have full
  // counters have them at once.
  static constexpr size_t kStretch = 65536, kFirstStretch = 8192;
  // Of random numbers a counter then holds 16 or so; of some that repeat, as of rows that are
  // alike, not 255 either.
  static constexpr uint64_t kMostHeld = 16 * kCodes;

  bool ran_over() const;
  void make_room() {
    if (held_ <= kMostHeld) return;
    Plane low, high;
    planes(low, high);
    low_ = low;
    high_ = high;
    std::fill(counters_.begin(), counters_.end(), uint8_t{0});
    held_ = 0;
  }

  /// `times` more of a code.
  void add(uint16_t code, uint64_t times) {
    low_[code & 0xff] += times;
    high_[code >> 8] += times;
  }

  std::vector<uint8_t> counters_;
  uint64_t held_ = 0;  // what they come to together
  Plane low_{}, high_{};
  Way way_ = kTested;
  size_t stretch_ = kFirstStretch;
  bool ran_over_ = false;
};

}  // namespace param_stats
