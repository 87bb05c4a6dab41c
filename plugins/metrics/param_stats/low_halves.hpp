// How often each byte of the lower half of float32 occurs.
//
// Both bytes are counted as one code, which halves the stores; 65,536 counters of a byte each fit
// the first cache, but for a little. What a counter cannot hold any more goes to the bytes' counts.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace param_stats {

class LowHalves {
 public:
  using Plane = std::array<uint64_t, 256>;

  LowHalves() : counters_(65536) {}
  uint8_t* counters() { return counters_.data(); }
  /// `times` more of a code.
  void add(uint16_t code, uint64_t times) {
    low_[code & 0xff] += times;
    high_[code >> 8] += times;
  }
  /// A counter has become 0.
  void wrapped(uint16_t code) { add(code, 256); }

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
  std::vector<uint8_t> counters_;
  Plane low_{}, high_{};
};

}  // namespace param_stats
