// Counts how often each 8- or 16-bit pattern occurs. All counting here uses these tables: a
// tensor of a type of at most 16 bits follows from its patterns, wider ones are sorted into buckets
// by their upper 16 bits, and the bytes of an element are counted for the entropy of stored bytes.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bins.hpp"

namespace param_stats {

/// Zeroed tables that wait for their next use, shared by all threads: memory that one thread frees
/// and another needs would pile up, and fresh pages cost more than counting a small tensor.
template <class Tables>
class TablePool {
 public:
  std::unique_ptr<Tables> take() {
    const std::lock_guard lock(mutex_);
    if (tables_.empty()) return std::make_unique<Tables>();  // zeros
    auto table = std::move(tables_.back());
    tables_.pop_back();
    return table;
  }
  void give(std::unique_ptr<Tables> tables) {
    const std::lock_guard lock(mutex_);
    if (tables_.size() < tables_.capacity()) tables_.push_back(std::move(tables));
  }
  static TablePool& instance() {
    static TablePool pool;
    return pool;
  }

 private:
  TablePool() { tables_.reserve(16); }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Tables>> tables_;
};

/// Each pattern has a counter in every table: incrementing one counter twice in a row waits for the
/// store before, and equal patterns often follow each other.
template <size_t kPatternCount, size_t kTableCount>
class Histogram {
 public:
  static constexpr size_t kPatterns = kPatternCount, kTables = kTableCount;
  using Tables = std::array<std::array<uint32_t, kPatterns>, kTables>;

  Histogram() = default;
  ~Histogram() {
    if (pending_ > 0)
      for (auto& table : *tables_) table.fill(0);
    TablePool<Tables>::instance().give(std::move(tables_));
  }
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  /// Tables whose counters the caller increments `n` times in all, n < 2^32.
  Tables& room(uint64_t n) {
    if (pending_ + n > std::numeric_limits<uint32_t>::max()) carry();
    pending_ += n;
    return *tables_;
  }
  void merge(const Histogram& other) {
    auto& mine = room(other.pending_);
    for (size_t t = 0; t < kTables; ++t)
      for (size_t i = 0; i < kPatterns; ++i) mine[t][i] += (*other.tables_)[t][i];
    if (other.carried_.empty()) return;
    carried_.resize(kPatterns);
    for (size_t i = 0; i < kPatterns; ++i) carried_[i] += other.carried_[i];
  }
  uint64_t operator[](size_t pattern) const {
    uint64_t sum = carried_.empty() ? 0 : carried_[pattern];
    for (const auto& table : *tables_) sum += table[pattern];
    return sum;
  }
  /// f(pattern, count) for every pattern that occurs, in rising order.
  template <class F>
  void each(F f) const {
    for (size_t block = 0; block < kPatterns; block += kBlock) {
      if (!any(block)) continue;
      for (size_t i = block; i < block + kBlock; ++i)
        if (const uint64_t count = (*this)[i]) f(static_cast<uint16_t>(i), count);
    }
  }

 private:
  static constexpr size_t kBlock = 64;

  /// Whether any pattern of a block occurs: most of a small tensor's blocks are empty.
  bool any(size_t block) const {
    uint64_t bits = 0;
    for (const auto& table : *tables_)
      for (size_t i = block; i < block + kBlock; ++i) bits |= table[i];
    if (!carried_.empty())
      for (size_t i = block; i < block + kBlock; ++i) bits |= carried_[i];
    return bits != 0;
  }
  /// Empties the tables into 64-bit counters.
  void carry() {
    carried_.resize(kPatterns);
    for (auto& table : *tables_) {
      for (size_t i = 0; i < kPatterns; ++i) carried_[i] += table[i];
      table.fill(0);
    }
    pending_ = 0;
  }

  std::unique_ptr<Tables> tables_ = TablePool<Tables>::instance().take();
  uint64_t pending_ = 0;  // increments in tables_
  std::vector<uint64_t> carried_;
};

using Histogram8 = Histogram<256, 4>;
using Histogram16 = Histogram<65536, 2>;

/// Counts little-endian 16-bit patterns.
void count_words(std::span<const uint8_t> bytes, Histogram16& to);
/// Counts the first byte of n elements that are `step` bytes apart.
void count_bytes(const uint8_t* at, size_t n, size_t step, Histogram8& to);

/// Counts of a byte position of all elements.
using BytePlane = std::array<uint64_t, 256>;

/// The size of a plane under an ideal entropy coder of order 0: its length times its entropy.
/// Huffman or ANS coders reach it after byte shuffling (Blosc's shuffle, ZipNN), their tables
/// aside.
inline double coded_bits(const BytePlane& plane) {
  double count = 0;
  for (const auto c : plane) count += static_cast<double>(c);
  return count * entropy_bits(plane);
}
double coded_bits(const Histogram8& bytes);
/// The entropy of the two bytes of a pattern.
double coded_bits(const Histogram16& words);

}  // namespace param_stats
