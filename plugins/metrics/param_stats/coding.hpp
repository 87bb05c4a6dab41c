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

/// Adds to `out` how often each of n bytes, `step` apart, occurs.
inline void count_bytes(const uint8_t* at, size_t n, size_t step, Plane& out) {
  // Several counters a byte, as equal bytes often follow each other: adding to one and the same
  // would wait for the store before.
  std::array<std::array<uint32_t, 256>, 4> part{};
  auto &a = part[0], &b = part[1], &c = part[2], &d = part[3];
  size_t i = 0;
  for (; i + 4 <= n; i += 4, at += 4 * step) {
    ++a[at[0]];
    ++b[at[step]];
    ++c[at[2 * step]];
    ++d[at[3 * step]];
  }
  for (; i < n; ++i, at += step) ++a[*at];
  for (size_t k = 0; k < out.size(); ++k) out[k] += uint64_t{a[k]} + b[k] + c[k] + d[k];
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

/// Counts the bytes of some planes of elements of a given size.
class PlaneCounter {
 public:
  /// Planes [0, planes) of elements of `size` bytes.
  PlaneCounter(size_t size, size_t planes) : size_(size), planes_(planes) {}

  void add(std::span<const uint8_t> elements) {
    const size_t n = elements.size() / size_;
    for (size_t p = 0; p < planes_.size(); ++p)
      count_bytes(elements.data() + p, n, size_, planes_[p]);
  }
  void merge(const PlaneCounter& o) {
    for (size_t p = 0; p < planes_.size(); ++p)
      for (size_t b = 0; b < 256; ++b) planes_[p][b] += o.planes_[p][b];
  }
  double bits() const {
    double sum = 0;
    for (const auto& plane : planes_) sum += coded_bits(plane);
    return sum;
  }

 private:
  size_t size_;
  std::vector<Plane> planes_;
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
