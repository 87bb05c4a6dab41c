// Compressibility: what an ideal entropy coder of order 0 makes of a tensor after byte shuffling.
//
// The i-th bytes of all elements form plane i; each plane costs its length times its entropy. That
// is what Huffman or ANS coders reach (Blosc's shuffle, ZipNN), their tables aside.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "bins.hpp"
#include "counting.hpp"

namespace param_stats {

using Plane = std::array<uint64_t, 256>;

inline double coded_bits(const Plane& plane) {
  double count = 0;
  for (const auto c : plane) count += static_cast<double>(c);
  return count * entropy_bits(plane);
}

/// Counts that SIMD adds to (counting.hpp), and those merged with them.
class ByteCounts {
 public:
  /// To add `n` to.
  ByteCounters& room(uint64_t n) {
    if (pending_ + n > std::numeric_limits<uint32_t>::max()) spill();
    pending_ += n;
    return *counters_;
  }
  void merge(const ByteCounts& o) {
    const auto theirs = o.plane();
    for (size_t i = 0; i < spilled_.size(); ++i) spilled_[i] += theirs[i];
  }
  Plane plane() const {
    Plane out = spilled_;
    for (const auto& part : *counters_)
      for (size_t i = 0; i < out.size(); ++i) out[i] += part[i];
    return out;
  }

 private:
  void spill() {
    spilled_ = plane();
    *counters_ = {};
    pending_ = 0;
  }
  std::unique_ptr<ByteCounters> counters_ = std::make_unique<ByteCounters>();
  uint64_t pending_ = 0;  // in counters_
  Plane spilled_{};
};

/// The two planes of 16-bit patterns that were counted.
class WordPlanes {
 public:
  void add(uint32_t code, uint64_t count) {
    low_[code & 0xff] += count;
    high_[code >> 8] += count;
  }
  double bits() const { return coded_bits(low_) + coded_bits(high_); }

 private:
  Plane low_{}, high_{};
};

}  // namespace param_stats
