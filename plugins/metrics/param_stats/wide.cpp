// float32, float64 and integers of more than 16 bits. The first pass gives moments, extremes and
// the counts of buckets; the second looks again only at buckets that a wanted rank, an edge of the
// histogram or the bound of what is near zero falls into.
#include <tmeter/cpp/numbers.hpp>

#include "block_sums.hpp"
#include "coding.hpp"
#include "collector.hpp"
#include "narrow.hpp"
#include "selection.hpp"

namespace param_stats {
namespace {

constexpr size_t kBlock = 2048;             // elements: fit the first cache as doubles
constexpr size_t kStretch = 16384;          // elements counted at a time: fit the second
constexpr uint8_t kWanted = 1, kSplit = 2;  // what an element's bucket is looked at for

/// Elements of any wide type as T: float for float32, double for the others.
template <class T>
class Blocks {
 public:
  explicit Blocks(tmeter::DType type) : type_(type), size_(static_cast<size_t>(type.bytes())) {}
  size_t size() const { return size_; }
  /// f(numbers) for every kBlock elements.
  template <class F>
  void each(std::span<const uint8_t> elements, F f) {
    while (elements.size() >= size_) {
      const size_t n = std::min(elements.size() / size_, kBlock);
      f(numbers(elements.first(n * size_), n));
      elements = elements.subspan(n * size_);
    }
  }

 private:
  /// float32 and float64 as they lie there: chunks are aligned.
  std::span<const T> numbers(std::span<const uint8_t> bytes, size_t n) {
    if (type_.id() == kSame) return {reinterpret_cast<const T*>(bytes.data()), n};
    const std::span<T> block(buffer_.data(), n);
    tmeter::decode<T>(type_, bytes, block);
    return block;
  }
  static constexpr int32_t kSame =
      std::is_same_v<T, float> ? TMETER_DTYPE_FLOAT32 : TMETER_DTYPE_FLOAT64;

  tmeter::DType type_;
  size_t size_;
  std::array<T, kBlock> buffer_;
};

/// What the passes after the first need to know; shared by their parts.
struct Plan {
  Selection selection;
  std::array<uint8_t, CodeTable::kCodes> look{};  // kWanted, kSplit by bucket
  EqualBins bins;
  double near = 0;  // |x| up to here is near zero
  // So far: from buckets that are not split, then from split ones as well.
  std::array<uint64_t, kBins> counts{};
  uint64_t near_zeros = 0;

  void mark_wanted() {
    for (auto& l : look) l &= static_cast<uint8_t>(~kWanted);
    for (const auto& interval : selection.open()) look[interval.bucket] |= kWanted;
  }
};

void add_to(std::array<uint64_t, kBins>& a, const std::array<uint64_t, kBins>& b) {
  for (size_t i = 0; i < kBins; ++i) a[i] += b[i];
}

/// Gives the quantiles to `out` when all are known. True: another pass is needed.
template <class T>
bool give_quantiles(const Selection& selection, Figures& out) {
  if (!selection.done()) return true;
  const uint64_t n = out.moments.n;
  for (size_t q = 0; q < kQuantiles.size(); ++q) {
    const auto place = place_of(kQuantiles[q], n);
    const auto value = [&](uint64_t rank) {
      return OrderKeys<T>::value(selection.key(std::min(rank, n - 1)));
    };
    out.quantiles[q] = between(value(place.rank), value(place.rank + 1), place.fraction);
  }
  return false;
}

template <class T>
class LaterPass final : public Collector {
 public:
  LaterPass(tmeter::DType type, std::shared_ptr<const Plan> plan, bool first)
      : type_(type), plan_(std::move(plan)), first_(first), blocks_(type) {
    const auto& selection = plan_->selection;
    for (const auto& interval : selection.open()) inside_.emplace_back(interval, selection.keep());
  }

  void add(std::span<const uint8_t> elements) override {
    const uint8_t* look = plan_->look.data();
    blocks_.each(elements, [&](std::span<const T> block) {
      // Set aside without a branch, which would often be mispredicted.
      size_t n = 0;
      for (const T x : block) {
        aside_[n] = x;
        n += look[OrderKeys<T>::bucket(x)] != 0;
      }
      for (size_t i = 0; i < n; ++i) {
        const uint16_t bucket = OrderKeys<T>::bucket(aside_[i]);
        examine(aside_[i], bucket, look[bucket]);
      }
    });
  }

  void merge(Collector& other) override {
    auto& o = static_cast<LaterPass&>(other);
    for (size_t i = 0; i < inside_.size(); ++i) inside_[i].merge(o.inside_[i]);
    add_to(counts_, o.counts_);
    near_zeros_ += o.near_zeros_;
  }

  bool finish(double, Figures& out) override {
    auto plan = std::make_shared<Plan>(*plan_);
    if (first_) {
      add_to(plan->counts, counts_);
      out.near_zeros = plan->near_zeros + near_zeros_;
      if (plan->bins.usable()) use_bins(plan->bins, plan->counts, out);
      for (auto& l : plan->look) l &= static_cast<uint8_t>(~kSplit);
    }
    plan->selection.narrow(inside_);
    plan->mark_wanted();
    plan_ = std::move(plan);
    inside_.clear();
    return give_quantiles<T>(plan_->selection, out);
  }
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<LaterPass>(type_, plan_, false);
  }

 private:
  void examine(T x, uint16_t bucket, uint8_t why) {
    if (!OrderKeys<T>::finite(x)) return;
    if (why & kSplit) {
      if (plan_->bins.usable()) ++counts_[plan_->bins.index(x)];
      near_zeros_ += std::fabs(static_cast<double>(x)) <= plan_->near;
    }
    if (!(why & kWanted)) return;
    const int64_t key = OrderKeys<T>::key(x);
    const auto& open = plan_->selection.open();
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i].bucket == bucket && open[i].keys.lo <= key && key <= open[i].keys.hi)
        inside_[i].add(key);
  }

  tmeter::DType type_;
  std::shared_ptr<const Plan> plan_;
  bool first_;  // the pass that also completes histogram and near zeros
  Blocks<T> blocks_;
  std::array<T, kBlock> aside_;
  std::vector<Inside> inside_;
  std::array<uint64_t, kBins> counts_{};
  uint64_t near_zeros_ = 0;
};

template <class T>
class FirstPass final : public Collector {
 public:
  explicit FirstPass(tmeter::DType type)
      : type_(type), blocks_(type), planes_(blocks_.size(), plane_count(type)) {}

  void add(std::span<const uint8_t> elements) override {
    const size_t stretch = kStretch * blocks_.size();
    while (!elements.empty()) {
      const auto now = elements.first(std::min(stretch, elements.size()));
      blocks_.each(now, [this](std::span<const T> block) { add_block(block); });
      if constexpr (std::is_same_v<T, float>) buckets_.add_upper(now);
      planes_.add(now);
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
    out.coded_bits = planes_.bits();
    if constexpr (std::is_same_v<T, float>) {
      WordPlanes upper;
      buckets_.each([&](uint16_t code, uint64_t count) { upper.add(code, count); });
      out.coded_bits += upper.bits();
      narrow_.report_single(out);
    } else if (type_.id() == TMETER_DTYPE_FLOAT64) {
      narrow_.report_double(out);
    }
    if (moments_.n == 0) return false;
    out.min = min_;
    out.max = max_;
    plan_ = make_plan(threshold);
    if (give_quantiles<T>(plan_->selection, out) || split_) return true;
    out.near_zeros = plan_->near_zeros;
    if (plan_->bins.usable()) use_bins(plan_->bins, plan_->counts, out);
    return false;
  }
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<LaterPass<T>>(type_, plan_, true);
  }

 private:
  /// The upper two bytes of float32 are counted as buckets.
  static size_t plane_count(tmeter::DType type) {
    return std::is_same_v<T, float> ? 2 : static_cast<size_t>(type.bytes());
  }
  void extend(double min, double max) {
    min_ = moments_.n ? std::min(min_, min) : min;
    max_ = moments_.n ? std::max(max_, max) : max;
  }

  void add_block(std::span<const T> block) {
    const double center = moments_.n ? moments_.average() : first_center(block);
    auto sums = block_sums(block.data(), block.size(), center);
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
    narrow_.add(block);
    if constexpr (std::is_same_v<T, double>) count_buckets(block);
  }
  void count_buckets(std::span<const double> block) {
    std::array<uint16_t, kBlock> codes;
    for (size_t i = 0; i < block.size(); ++i) codes[i] = OrderKeys<double>::bucket(block[i]);
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

  std::shared_ptr<const Plan> make_plan(double threshold) {
    auto plan = std::make_shared<Plan>();
    plan->bins = EqualBins(min_, max_);
    plan->near = threshold * moments_.root_mean_square();
    split_ = false;
    each_bucket([&](uint16_t bucket) {
      if (const uint64_t count = buckets_[bucket]) assign(bucket, count, *plan);
    });
    std::vector<uint64_t> ranks;
    for (const double q : kQuantiles) {
      const uint64_t rank = place_of(q, moments_.n).rank;
      for (const uint64_t r : {rank, std::min(rank + 1, moments_.n - 1)}) ranks.push_back(r);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    using Keys = OrderKeys<T>;
    plan->selection.start<T>(ranks, buckets_,
                             {Keys::key(static_cast<T>(min_)), Keys::key(static_cast<T>(max_))});
    plan->mark_wanted();
    return plan;
  }
  /// A bucket goes into the histogram as a whole where all its numbers fall into one bin.
  void assign(uint16_t bucket, uint64_t count, Plan& plan) {
    const auto keys = keys_of<T>(bucket);
    const double lo = std::clamp(OrderKeys<T>::value(keys.lo), min_, max_);
    const double hi = std::clamp(OrderKeys<T>::value(keys.hi), min_, max_);
    const bool binned = plan.bins.usable();
    const size_t bin = binned ? plan.bins.index(lo) : 0;
    const bool near_lo = std::fabs(lo) <= plan.near, near_hi = std::fabs(hi) <= plan.near;
    if (near_lo != near_hi || (binned && bin != plan.bins.index(hi))) {
      plan.look[bucket] |= kSplit;
      split_ = true;
      return;
    }
    plan.counts[bin] += count;
    if (near_lo) plan.near_zeros += count;
  }

  tmeter::DType type_;
  Blocks<T> blocks_;
  PlaneCounter planes_;
  CodeTable buckets_;
  NarrowCheck narrow_;
  Moments moments_;
  double min_ = 0, max_ = 0, l1_ = 0;
  uint64_t zeros_ = 0, nan_ = 0, inf_ = 0;
  std::array<T, kBlock> finite_;
  bool split_ = false;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace

std::unique_ptr<Collector> wide_collector(tmeter::DType type) {
  if (type.id() == TMETER_DTYPE_FLOAT32) return std::make_unique<FirstPass<float>>(type);
  return std::make_unique<FirstPass<double>>(type);
}

}  // namespace param_stats
