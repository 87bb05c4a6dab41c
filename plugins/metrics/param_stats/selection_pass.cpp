#include "selection_pass.hpp"

#include <algorithm>

namespace param_stats {
namespace {

/// 0-based ranks around the quantiles of n values.
std::vector<uint64_t> quantile_ranks(uint64_t n) {
  std::vector<uint64_t> ranks;
  for (const double q : kQuantiles) {
    const uint64_t rank = place_of(q, n).rank;
    ranks.insert(ranks.end(), {rank, std::min(rank + 1, n - 1)});
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Counts a bucket as a whole if possible, else adds tasks.
template <class T>
void assign(const BucketCount& b, SelectionPlan& plan) {
  const double lo = OrderKeys<T>::value(b.keys.lo), hi = OrderKeys<T>::value(b.keys.hi);
  const bool lo_is_near = std::fabs(lo) <= plan.near, hi_is_near = std::fabs(hi) <= plan.near;
  if (lo_is_near != hi_is_near)
    plan.add_task(b.bucket, kNearZero);
  else if (lo_is_near)
    plan.near_zeros += b.count;
  if (!plan.bins.usable()) return;
  const size_t bin = plan.bins.index(lo);
  if (bin == plan.bins.index(hi)) {
    plan.bin_counts[bin] += b.count;
  } else {
    plan.add_task(b.bucket, kBinned);
    (*plan.buckets)[b.bucket].first_bin = static_cast<uint8_t>(bin);
  }
}

}  // namespace

template <class T>
SelectionPlan make_selection_plan(std::vector<BucketCount> buckets, const EqualBins& bins,
                                  double near, uint64_t n) {
  // By value: codes of negative buckets come last, and rise as the values fall.
  const auto negative = std::find_if(buckets.begin(), buckets.end(),
                                     [](const auto& b) { return b.bucket & kNegative; });
  std::reverse(negative, buckets.end());
  std::rotate(buckets.begin(), negative, buckets.end());
  SelectionPlan plan;
  plan.bins = bins;
  plan.near = near;
  plan.n = n;
  for (const auto& b : buckets) assign<T>(b, plan);
  plan.selection = RankSelection(quantile_ranks(n), buckets);
  plan.add_ranked_tasks();
  return plan;
}

template <class T>
void SelectionPlan::report(Statistics& out) const {
  out.near_zeros = near_zeros;
  if (bins.usable()) use_bins(bins, bin_counts, out);
  for (size_t q = 0; q < kQuantiles.size(); ++q) {
    const auto place = place_of(kQuantiles[q], n);
    const auto value = [&](uint64_t rank) {
      return OrderKeys<T>::value(selection.key(std::min(rank, n - 1)));
    };
    out.quantiles[q] = between(value(place.rank), value(place.rank + 1), place.fraction);
  }
}

template <class T>
SelectionPass<T>::SelectionPass(tmeter::DType type, std::shared_ptr<const SelectionPlan> plan)
    : type_(type), plan_(std::move(plan)), blocks_(type), filtered_(kBlock<T>) {
  const auto& selection = plan_->selection;
  for (const auto& interval : selection.open()) found_.emplace_back(interval, selection.keep());
}

template <class T>
void SelectionPass<T>::add(std::span<const uint8_t> elements) {
  const BucketFilter filter(*plan_);
  blocks_.each(elements, [&](std::span<const T> block, const uint8_t*) {
    const size_t n = filter.filter(block, filtered_.data());
    for (size_t i = 0; i < n; ++i) observe(filtered_[i]);
  });
}

template <class T>
void SelectionPass<T>::observe(T x) {
  const uint16_t code = OrderKeys<T>::bucket(x);
  const auto bucket = (*plan_->buckets)[code];
  // Buckets of float32 that are not finite have no tasks.
  if constexpr (!std::is_same_v<T, float>)
    if (!OrderKeys<T>::finite(x)) return;
  const double value = static_cast<double>(x);
  if (bucket.tasks & kBinned) {
    const auto& edges = plan_->bins.edges();
    size_t bin = bucket.first_bin;
    bin += value >= edges[bin + 1];  // most buckets hold one edge
    while (bin + 1 < kBins && value >= edges[bin + 1]) ++bin;
    ++bin_counts_[bin];
  }
  if (bucket.tasks & kNearZero) near_zeros_ += std::fabs(value) <= plan_->near;
  if (bucket.tasks & kRanked) select(x, code);
}

template <class T>
void SelectionPass<T>::select(T x, uint16_t bucket) {
  const int64_t key = OrderKeys<T>::key(x);
  const auto& open = plan_->selection.open();
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i].bucket == bucket && open[i].keys.lo <= key && key <= open[i].keys.hi)
      found_[i].add(key);
}

template <class T>
void SelectionPass<T>::merge(Collector& other) {
  auto& o = static_cast<SelectionPass&>(other);
  for (size_t i = 0; i < found_.size(); ++i) found_[i].merge(o.found_[i]);
  for (size_t i = 0; i < kBins; ++i) bin_counts_[i] += o.bin_counts_[i];
  near_zeros_ += o.near_zeros_;
}

template <class T>
bool SelectionPass<T>::finish(double, Statistics& out) {
  auto plan = std::make_shared<SelectionPlan>();
  plan->selection = plan_->selection;
  plan->selection.narrow(found_);
  plan->add_ranked_tasks();
  plan->bins = plan_->bins;
  plan->n = plan_->n;
  plan->near_zeros = plan_->near_zeros + near_zeros_;
  for (size_t i = 0; i < kBins; ++i) plan->bin_counts[i] = plan_->bin_counts[i] + bin_counts_[i];
  plan_ = std::move(plan);
  found_.clear();
  if (plan_->has_tasks) return true;
  plan_->report<T>(out);
  return false;
}

template void SelectionPlan::report<float>(Statistics&) const;
template void SelectionPlan::report<double>(Statistics&) const;
template SelectionPlan make_selection_plan<float>(std::vector<BucketCount>, const EqualBins&,
                                                  double, uint64_t);
template SelectionPlan make_selection_plan<double>(std::vector<BucketCount>, const EqualBins&,
                                                   double, uint64_t);
template class SelectionPass<float>;
template class SelectionPass<double>;

}  // namespace param_stats
