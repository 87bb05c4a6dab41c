#include "selection.hpp"

namespace param_stats {
namespace {

constexpr uint64_t kMostKept = uint64_t{1} << 18;  // keys: 2 MiB a tensor

}  // namespace

void Inside::count() {
  if (!table_) table_ = std::make_unique<CodeTable>();
  table_->add(cells_);
  cells_.clear();
}

void Inside::merge(Inside& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  if (other.table_) {
    if (!table_) table_ = std::make_unique<CodeTable>();
    table_->merge(*other.table_);
  }
  cells_.insert(cells_.end(), other.cells_.begin(), other.cells_.end());
  if (cells_.size() >= kListed) count();
}

int64_t Inside::key(uint64_t rank) {
  const auto at = kept_.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(kept_.begin(), at, kept_.end());
  return *at;
}

void Selection::open_or_found(const Interval& interval, const std::vector<uint64_t>& ranks) {
  if (interval.keys.lo == interval.keys.hi) {
    for (const auto rank : ranks) found_[rank] = interval.keys.lo;
    return;
  }
  open_.push_back(interval);
  ranks_.push_back(ranks);
}

bool Selection::keep() const {
  uint64_t inside = 0;
  for (const auto& interval : open_) inside += interval.inside;
  return inside <= kMostKept;
}

void Selection::narrow(std::vector<Inside>& found) {
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
