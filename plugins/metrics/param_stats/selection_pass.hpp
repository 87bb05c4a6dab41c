// The second pass over a tensor of elements of more than 16 bits: only values of buckets that hold
// a requested rank, an edge between bins or the bound of near zero are examined one by one.
#pragma once
#include <memory>

#include "collector.hpp"
#include "selection.hpp"

namespace param_stats {

/// The reason why the values of a bucket are collected.
enum BucketTask : uint8_t {
  kRanked = 1,   // an open interval of the selection
  kBinned = 2,   // an edge between bins
  kNearZero = 4  // the bound of near zero
};

/// The values that a pass selects, and the counts of earlier passes. Shared by the parts of a
/// tensor.
struct SelectionPlan {
  struct Bucket {
    uint8_t tasks = 0;      // BucketTask
    uint8_t first_bin = 0;  // with kBinned: of its smallest value
  };
  std::unique_ptr<std::array<Bucket, Histogram16::kPatterns>> buckets =
      std::make_unique<std::array<Bucket, Histogram16::kPatterns>>();
  bool has_tasks = false;  // some bucket has tasks
  RankSelection selection;
  EqualBins bins;
  double near = 0;  // values up to this magnitude are near zero
  uint64_t n = 0;
  // Results of buckets without such tasks.
  std::array<uint64_t, kBins> bin_counts{};
  uint64_t near_zeros = 0;

  void add_task(uint16_t bucket, BucketTask task) {
    (*buckets)[bucket].tasks |= task;
    has_tasks = true;
  }
  void add_ranked_tasks() {
    for (const auto& interval : selection.open()) add_task(interval.bucket, kRanked);
  }
  /// Quantiles, histogram and near zeros, after the last pass.
  template <class T>
  void report(Statistics& out) const;
};

/// Plans from the buckets of n finite values, in the order of their codes.
template <class T>
SelectionPlan make_selection_plan(std::vector<BucketCount> buckets, const EqualBins& bins,
                                  double near, uint64_t n);

/// Copies the values of the plan's buckets to `out`, which has room for all. Returns how many.
class BucketFilter {
 public:
  explicit BucketFilter(const SelectionPlan& plan) : buckets_(*plan.buckets) {}
  template <class T>
  size_t filter(std::span<const T> block, T* out) const {
    size_t n = 0;
    for (const T x : block) {  // without branches: they could not be predicted
      out[n] = x;
      n += buckets_[OrderKeys<T>::bucket(x)].tasks != 0;
    }
    return n;
  }

 private:
  const std::array<SelectionPlan::Bucket, Histogram16::kPatterns>& buckets_;
};

template <class T>
class SelectionPass final : public Collector {
 public:
  SelectionPass(tmeter::DType type, std::shared_ptr<const SelectionPlan> plan);

  void add(std::span<const uint8_t> elements) override;
  void merge(Collector& other) override;
  bool finish(double threshold, Statistics& out) override;
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<SelectionPass>(type_, plan_);
  }

 private:
  void observe(T x);
  void select(T x, uint16_t bucket);

  tmeter::DType type_;
  std::shared_ptr<const SelectionPlan> plan_;
  Blocks<T> blocks_;
  std::vector<T> filtered_;
  std::vector<IntervalKeys> found_;  // one for each open interval
  std::array<uint64_t, kBins> bin_counts_{};
  uint64_t near_zeros_ = 0;
};

extern template class SelectionPass<float>;
extern template class SelectionPass<double>;

}  // namespace param_stats
