// How often each of 65,536 codes occurs.
//
// A table takes 512 KiB; fresh ones would cost more page faults than a small tensor takes to count,
// so they are kept, zeroed, for the next tensor.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace param_stats {

class CodeTable {
 public:
  static constexpr size_t kCodes = 65536;

  CodeTable();
  ~CodeTable();
  CodeTable(const CodeTable&) = delete;
  CodeTable& operator=(const CodeTable&) = delete;

  void add_words(std::span<const uint8_t> codes);  // of 2 bytes each
  void add(std::span<const uint16_t> codes);
  void merge(const CodeTable& other);

  uint64_t operator[](size_t code) const {
    return uint64_t{counters_->half[0][code]} + counters_->half[1][code] +
           (spilled_.empty() ? 0 : spilled_[code]);
  }
  /// f(code, count) for every code that occurs, in rising order.
  template <class F>
  void each(F f) const {
    for (size_t block = 0; block < kCodes; block += kBlock) {
      if (!any(block)) continue;
      for (size_t i = block; i < block + kBlock; ++i)
        if (const uint64_t count = (*this)[i]) f(static_cast<uint16_t>(i), count);
    }
  }

  /// Whether any of the kBlock codes from `block` on, a multiple of kBlock, occurs.
  static constexpr size_t kBlock = 64;
  bool any(size_t block) const;

  // Two counters a code: adding to one and the same would wait for the store before, and equal
  // codes often follow each other.
  struct Counters {
    std::array<std::array<uint32_t, kCodes>, 2> half;
  };
  /// To add at most 2^31 to.
  Counters& room(uint64_t n) {
    make_room(n);
    return *counters_;
  }

 private:
  void make_room(uint64_t n);

  std::unique_ptr<Counters> counters_;
  uint64_t pending_ = 0;           // what counters_ hold together: fits 32 bits
  std::vector<uint64_t> spilled_;  // beyond 2^32 elements; empty before
};

}  // namespace param_stats
