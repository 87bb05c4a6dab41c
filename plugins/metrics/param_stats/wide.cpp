// float32, float64 and integers of more than 16 bits. The first pass gives moments, extremes and
// the counts of buckets; the second looks again only at buckets that a wanted rank, an edge of the
// histogram or the bound of what is near zero falls into.
#include "later_pass.hpp"
#include "narrow.hpp"
#include "plane_counter.hpp"

namespace param_stats {
namespace {

constexpr size_t kStretch =
    32768;  // elements whose bytes are counted at a time: fit the second cache

template <class T>
class FirstPass final : public Collector {
 public:
  explicit FirstPass(tmeter::DType type)
      : type_(type), blocks_(type), planes_(kSingle ? 0 : blocks_.size()) {}

  void add(std::span<const uint8_t> elements) override {
    const size_t stretch = kStretch * blocks_.size();
    while (!elements.empty()) {
      const auto now = elements.first(std::min(stretch, elements.size()));
      blocks_.each(now, [this](std::span<const T> block) { add_block(block); });
      if constexpr (!kSingle) planes_.add(now);
      elements = elements.subspan(now.size());
    }
  }

  void merge(Collector& other) override {
    auto& o = static_cast<FirstPass&>(other);
    if (o.moments_.n) extend(o.min_, o.max_);
    moments_.merge(o.moments_);
    l1_ += o.l1_;
    zeros_ += o.zeros_;
    nan_ += o.nan_;
    inf_ += o.inf_;
    buckets_.merge(o.buckets_);
    planes_.merge(o.planes_);
    narrow_.merge(o.narrow_);
  }

  bool finish(double threshold, Figures& out) override {
    out.nan = nan_;
    out.inf = inf_;
    out.zeros = zeros_;
    out.moments = moments_;
    out.l1 = l1_;
    plan_ = std::make_shared<LookPlan<T>>();
    report_bytes(out);
    if (moments_.n > 0) {
      out.min = min_;
      out.max = max_;
      make_plan(threshold);
    }
    if (give_quantiles<T>(plan_->selection, out) || look_again_) return true;
    out.near_zeros = plan_->near_zeros;
    if (plan_->bins.usable()) use_bins(plan_->bins, plan_->counts, out);
    return false;
  }
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<LaterPass<T>>(type_, plan_, true);
  }

 private:
  static constexpr bool kSingle = std::is_same_v<T, float>;

  void extend(double min, double max) {
    min_ = moments_.n ? std::min(min_, min) : min;
    max_ = moments_.n ? std::max(max_, max) : max;
  }

  void add_block(std::span<const T> block) {
    const double center = moments_.n ? moments_.average() : first_center(block);
    auto sums = look(block, center);
    if (!std::isfinite(sums.powers.d1)) {
      block = finite_of(block);
      if (block.empty()) return;
      const double new_center = moments_.n ? moments_.average() : first_center(block);
      sums = block_sums(block.data(), block.size(), new_center);
      take(block, sums, new_center);
    } else {
      take(block, sums, center);
    }
  }
  BlockSums look(std::span<const T> block, double center) {
    if constexpr (kSingle) {
      auto& upper = buckets_.room(block.size()).half;
      return first_look(block.data(), block.size(), center, upper[0].data(), upper[1].data());
    } else {
      return block_sums(block.data(), block.size(), center);
    }
  }
  /// Any number of the block's size does; its mean is the best.
  static double first_center(std::span<const T> block) {
    const double n = static_cast<double>(block.size());
    const double mean = block_sums(block.data(), block.size(), 0).powers.d1 / n;
    return std::isfinite(mean) ? mean : 0;
  }
  void take(std::span<const T> block, const BlockSums& sums, double center) {
    extend(sums.min, sums.max);
    moments_.merge(Moments::about(center, block.size(), sums.powers));
    l1_ += sums.l1;
    zeros_ += sums.zeros;
    if constexpr (kSingle) {
      narrow_.add(block, sums.patterns);
    } else {
      if (type_.id() == TMETER_DTYPE_FLOAT64) narrow_.add(block);
      count_buckets(block);
    }
  }
  void count_buckets(std::span<const double> block) {
    std::array<uint16_t, kBlock<T>> codes;
    buckets_of(block.data(), block.size(), codes.data());
    buckets_.add(std::span<const uint16_t>(codes.data(), block.size()));
  }
  std::span<const T> finite_of(std::span<const T> block) {
    size_t n = 0;
    for (const T x : block) {
      if (OrderKeys<T>::finite(x))
        finite_[n++] = x;
      else
        ++(std::isnan(x) ? nan_ : inf_);
    }
    return {finite_.data(), n};
  }

  /// float32: the lower half is counted in the second pass. Where all are bfloat16 it is 0.
  void report_bytes(Figures& out) {
    if constexpr (kSingle) {
      WordPlanes upper;
      buckets_.each([&](uint16_t code, uint64_t count) { upper.add(code, count); });
      out.coded_bits = plan_->upper_bits = upper.bits();
      narrow_.report_single(out);
      look_again_ = !narrow_.bfloat16() || nan_ + inf_ > 0;
    } else {
      out.coded_bits = planes_.bits();
      if (type_.id() == TMETER_DTYPE_FLOAT64) narrow_.report_double(out);
    }
  }

  void make_plan(double threshold) {
    auto& plan = *plan_;
    plan.use_bins(min_, max_);
    plan.near = threshold * moments_.root_mean_square();
    each_bucket(buckets_, [&](uint16_t bucket, uint64_t count) { assign(bucket, count, plan); });
    if (plan.bin_each) plan.counts.fill(0);
    std::vector<uint64_t> ranks;
    for (const double q : kQuantiles) {
      const uint64_t rank = place_of(q, moments_.n).rank;
      for (const uint64_t r : {rank, std::min(rank + 1, moments_.n - 1)}) ranks.push_back(r);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    plan.selection.start(ranks, buckets_, [this](uint16_t bucket) { return keys_in(bucket); });
    plan.mark_wanted();
    plan.make_sieve(min_, max_);
  }
  /// The keys between which the numbers of a bucket lie, as far as is known.
  KeyRange keys_in(uint16_t bucket) const {
    const bool zeros = (bucket & ~kNegative) == 0;
    if (zeros && buckets_[0] + buckets_[kNegative] == zeros_) return {0, 0};
    auto keys = keys_of<T>(bucket);
    if (kSingle && narrow_.bfloat16()) {  // its number with zeros below
      keys.lo = keys.hi = bucket & kNegative ? keys.hi : keys.lo;
      return keys;
    }
    using Keys = OrderKeys<T>;
    return {std::max(keys.lo, Keys::key(static_cast<T>(min_))),
            std::min(keys.hi, Keys::key(static_cast<T>(max_)))};
  }
  /// A bucket goes into the histogram as a whole where all its numbers fall into one bin.
  void assign(uint16_t bucket, uint64_t count, LookPlan<T>& plan) {
    const auto keys = keys_in(bucket);
    const double lo = OrderKeys<T>::value(keys.lo), hi = OrderKeys<T>::value(keys.hi);
    const bool near_lo = std::fabs(lo) <= plan.near, near_hi = std::fabs(hi) <= plan.near;
    if (near_lo != near_hi) {
      mark(bucket, kNear, plan);
      plan.sought.push_back(bucket);
    } else if (near_lo) {
      plan.near_zeros += count;
    }
    if (!plan.bins.usable()) return;
    const size_t bin = plan.bins.index(lo);
    if (bin == plan.bins.index(hi)) {
      plan.counts[bin] += count;
    } else if constexpr (kSingle) {
      mark(bucket, kBinned, plan);
      plan.table->first_bin[bucket] = static_cast<uint8_t>(bin);
    } else {
      plan.bin_each = look_again_ = true;
    }
  }
  void mark(uint16_t bucket, uint8_t why, LookPlan<T>& plan) {
    plan.table->look[bucket] |= why;
    look_again_ = true;
  }

  tmeter::DType type_;
  Blocks<T> blocks_;
  PlaneCounter planes_;  // but of float32
  CodeTable buckets_;
  NarrowCheck narrow_;
  Moments moments_;
  double min_ = 0, max_ = 0, l1_ = 0;
  uint64_t zeros_ = 0, nan_ = 0, inf_ = 0;
  std::array<T, kBlock<T>> finite_;
  bool look_again_ = false;
  std::shared_ptr<LookPlan<T>> plan_;
};

}  // namespace

std::unique_ptr<Collector> wide_collector(tmeter::DType type) {
  if (type.id() == TMETER_DTYPE_FLOAT32) return std::make_unique<FirstPass<float>>(type);
  return std::make_unique<FirstPass<double>>(type);
}

}  // namespace param_stats
