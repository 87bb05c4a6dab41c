#include "selection.hpp"

namespace param_stats {
namespace {

constexpr uint64_t kMaxKeptKeys = uint64_t{1} << 18;  // 2 MiB

}  // namespace

void IntervalKeys::count() {
  if (!histogram_) histogram_ = std::make_unique<Histogram16>();
  count_words({reinterpret_cast<const uint8_t*>(cells_.data()), 2 * cells_.size()}, *histogram_);
  cells_.clear();
}

void IntervalKeys::merge(IntervalKeys& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  if (other.histogram_) {
    if (!histogram_) histogram_ = std::make_unique<Histogram16>();
    histogram_->merge(*other.histogram_);
  }
  cells_.insert(cells_.end(), other.cells_.begin(), other.cells_.end());
  if (cells_.size() >= kListedCells) count();
}

int64_t IntervalKeys::key(uint64_t rank) {
  const auto at = kept_.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(kept_.begin(), at, kept_.end());
  return *at;
}

RankSelection::RankSelection(const std::vector<uint64_t>& ranks,
                             const std::vector<BucketCount>& buckets) {
  uint64_t before = 0;
  auto rank = ranks.begin();
  for (const auto& [bucket, keys, count] : buckets) {
    const auto first = rank;
    while (rank != ranks.end() && *rank < before + count) ++rank;
    if (rank != first) open_or_found({bucket, keys, before, count}, {first, rank});
    before += count;
  }
}

void RankSelection::open_or_found(const Interval& interval, const std::vector<uint64_t>& ranks) {
  if (interval.keys.lo == interval.keys.hi) {
    for (const auto rank : ranks) found_[rank] = interval.keys.lo;
    return;
  }
  open_.push_back(interval);
  ranks_.push_back(ranks);
}

bool RankSelection::keep() const {
  uint64_t inside = 0;
  for (const auto& interval : open_) inside += interval.inside;
  return inside <= kMaxKeptKeys;
}

void RankSelection::narrow(std::vector<IntervalKeys>& found) {
  const bool kept = keep();
  const auto intervals = std::move(open_);
  const auto ranks = std::move(ranks_);
  open_.clear();
  ranks_.clear();
  for (size_t i = 0; i < intervals.size(); ++i) {
    const auto& from = intervals[i];
    if (kept) {
      for (const auto rank : ranks[i]) found_[rank] = found[i].key(rank - from.before);
      continue;
    }
    const int shift = from.shift();
    uint64_t before = from.before;
    auto rank = ranks[i].begin();
    found[i].cells().each([&](uint16_t cell, uint64_t count) {
      const auto first = rank;
      while (rank != ranks[i].end() && *rank < before + count) ++rank;
      if (rank != first) {
        const int64_t lo = from.keys.lo + (int64_t{cell} << shift);
        const int64_t hi = std::min(from.keys.hi, lo + (int64_t{1} << shift) - 1);
        open_or_found({from.bucket, {lo, hi}, before, count}, {first, rank});
      }
      before += count;
    });
  }
}

}  // namespace param_stats
