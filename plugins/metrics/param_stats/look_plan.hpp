// What the passes over a wide tensor after the first look for; shared by its parts.
#pragma once
#include <limits>
#include <memory>

#include "float_looks.hpp"
#include "selection.hpp"

namespace param_stats {

// What an element's bucket is looked at for: an open interval of the selection, an edge between
// bins (of floats), the bound of what is near zero.
constexpr uint8_t kWanted = 1, kBinned = 2, kNear = 4;

/// By bucket. What is not looked at is not written, so that small tensors pay for one table only.
struct BucketTable {
  std::array<uint8_t, CodeTable::kCodes> look;
  std::array<uint8_t, CodeTable::kCodes> first_bin;   // with kBinned: of its smallest number
  std::array<uint8_t, CodeTable::kCodes> first_open;  // with kWanted: in Selection::open
};

template <class T>
struct LookPlan {
  LookPlan() : table(std::make_unique_for_overwrite<BucketTable>()) { table->look.fill(0); }
  explicit LookPlan(const Selection& s) : LookPlan() { selection = s; }

  Selection selection;
  std::unique_ptr<BucketTable> table;
  EqualBins bins;
  std::array<T, kBins + 1> edges;  // the least T at or above those of the bins; the last infinite
  double near = 0;                 // |x| up to here is near zero
  bool bin_each = false;           // of doubles: all numbers are put into bins
  // So far: of buckets that need no look.
  std::array<uint64_t, kBins> counts{};
  uint64_t near_zeros = 0;
  double upper_bits = 0;         // of float32: what its lower half is added to
  std::vector<uint16_t> sought;  // buckets to be found whole
  Sieve sieve;

  void use_bins(double min, double max) {
    bins = EqualBins(min, max);
    if (!bins.usable()) return;
    for (size_t i = 0; i < kBins; ++i) {
      const double edge = bins.edges()[i];
      edges[i] = static_cast<T>(edge);
      if (static_cast<double>(edges[i]) < edge)
        edges[i] = std::nextafter(edges[i], std::numeric_limits<T>::infinity());
    }
    edges[kBins] = std::numeric_limits<T>::infinity();
  }
  /// The bin of a number in a bucket with kBinned.
  size_t bin_of(T x, uint16_t bucket) const {
    const size_t first = table->first_bin[bucket];
    size_t i = first + (x >= edges[first + 1]);  // one edge is likely, on which side of it is not
    while (x >= edges[i + 1]) ++i;
    return i;
  }

  /// Marks what the selection still looks for. There are at most two ranks a quantile.
  void mark_wanted() {
    const auto& open = selection.open();
    for (size_t i = open.size(); i-- > 0;) {
      table->look[open[i].bucket] |= kWanted;
      table->first_open[open[i].bucket] = static_cast<uint8_t>(i);
    }
  }
  /// After all is marked.
  void make_sieve(double min, double max) {
    for (const auto& interval : selection.open()) sought.push_back(interval.bucket);
    sieve = bin_sieve(bins, min, max, sought);
  }
};

}  // namespace param_stats
