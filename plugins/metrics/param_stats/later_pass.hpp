// The passes over a wide tensor after the first: they look only at what a plan says.
#pragma once
#include "coding.hpp"
#include "collector.hpp"
#include "look_plan.hpp"
#include "wide_blocks.hpp"

namespace param_stats {

/// Gives the quantiles to `out` when all are known. True: another pass is needed.
template <class T>
bool give_quantiles(const Selection& selection, Figures& out) {
  if (!selection.done()) return true;
  const uint64_t n = out.moments.n;
  if (n == 0) return false;
  for (size_t q = 0; q < kQuantiles.size(); ++q) {
    const auto place = place_of(kQuantiles[q], n);
    const auto value = [&](uint64_t rank) {
      return OrderKeys<T>::value(selection.key(std::min(rank, n - 1)));
    };
    out.quantiles[q] = between(value(place.rank), value(place.rank + 1), place.fraction);
  }
  return false;
}

/// How many numbers lie in each bin.
class CountsOfBins {
 public:
  void add(std::span<const double> block, const EqualBins& bins) {
    std::array<uint8_t, kBlock<double>> places;
    infinite_ += bins_of(block.data(), block.size(), bins, places.data());
    count_bytes(places.data(), block.size(), counts_.room(block.size()));
  }
  void merge(const CountsOfBins& o) {
    counts_.merge(o.counts_);
    infinite_ += o.infinite_;
  }
  void add_to(std::array<uint64_t, kBins>& out) const {
    const auto counts = counts_.plane();
    for (size_t i = 0; i < kBins; ++i) out[i] += counts[i];
    out[0] -= infinite_;
  }

 private:
  ByteCounts counts_;
  uint64_t infinite_ = 0;  // or NaN, counted in the first bin
};

template <class T>
class LaterPass final : public Collector {
 public:
  /// `first`: the pass that also completes histogram, near zeros and coded bits.
  LaterPass(tmeter::DType type, std::shared_ptr<const LookPlan<T>> plan, bool first)
      : type_(type), plan_(std::move(plan)), first_(first), blocks_(type) {
    const auto& selection = plan_->selection;
    for (const auto& interval : selection.open()) inside_.emplace_back(interval, selection.keep());
  }

  void add(std::span<const uint8_t> elements) override {
    const auto look = [&](std::span<const T> block) { examine(set_aside(block)); };
    if constexpr (kSingle) {
      if (first_) return count_lower_halves(elements, look);
    }
    blocks_.each(elements, [&](std::span<const T> block) {
      if constexpr (!kSingle) {
        if (first_ && plan_->bin_each) bins_.add(block, plan_->bins);
      }
      look(block);
    });
  }

  void merge(Collector& other) override {
    auto& o = static_cast<LaterPass&>(other);
    for (size_t i = 0; i < inside_.size(); ++i) inside_[i].merge(o.inside_[i]);
    for (size_t i = 0; i < kBins; ++i) counts_[i] += o.counts_[i];
    near_zeros_ += o.near_zeros_;
    if constexpr (kSingle)
      halves_.merge(o.halves_);
    else
      bins_.merge(o.bins_);
  }

  bool finish(double, Figures& out) override {
    auto plan = std::make_shared<LookPlan<T>>(plan_->selection);
    if (first_) complete(out);
    plan->selection.narrow(inside_);
    plan->mark_wanted();
    plan->make_sieve(0, 0);
    plan_ = std::move(plan);
    inside_.clear();
    return give_quantiles<T>(plan_->selection, out);
  }
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<LaterPass>(type_, plan_, false);
  }

 private:
  static constexpr bool kSingle = std::is_same_v<T, float>;

  template <class Look>
  void count_lower_halves(std::span<const uint8_t> elements, Look look) {
    const auto stretch = [&](size_t begin, size_t end) {
      return elements.subspan(begin * sizeof(T), (end - begin) * sizeof(T));
    };
    halves_.count(
        elements.size() / sizeof(T),
        [&](size_t begin, size_t end) { blocks_.each(stretch(begin, end), look); },
        [&](size_t begin, size_t end) {
          blocks_.each(stretch(begin, end), [&](std::span<const T> block) { set_aside(block); });
        });
  }
  size_t set_aside(std::span<const float> block) {
    if (!first_) return later_look(block.data(), block.size(), plan_->sieve, aside_.data());
    return second_look(block.data(), block.size(), plan_->sieve, aside_.data(), halves_);
  }
  size_t set_aside(std::span<const double> block) {
    return of_buckets(block.data(), block.size(), plan_->sought, aside_.data());
  }

  /// What was set aside, by what it is looked at for. What a bucket is wanted for cannot be
  /// foreseen: branches on it would often be mispredicted.
  void examine(size_t n) {
    const auto& look = plan_->table->look;
    size_t binned = 0, wanted = 0;
    for (size_t i = 0; i < n; ++i) {
      const T x = aside_[i];
      // Buckets of floats that are not finite are never marked.
      const bool known = kSingle || OrderKeys<T>::finite(x);
      const uint8_t why = known ? look[OrderKeys<T>::bucket(x)] : 0;
      wanted_[wanted] = x;
      wanted += (why & kWanted) != 0;
      if (why & kNear) near_zeros_ += std::fabs(static_cast<double>(x)) <= plan_->near;
      aside_[binned] = x;
      binned += (why & kBinned) != 0;
    }
    for (size_t i = 0; i < binned; ++i)
      ++counts_[plan_->bin_of(aside_[i], OrderKeys<T>::bucket(aside_[i]))];
    for (size_t i = 0; i < wanted; ++i) select(wanted_[i]);
  }
  void select(T x) {
    const int64_t key = OrderKeys<T>::key(x);
    const uint16_t bucket = OrderKeys<T>::bucket(x);
    const auto& open = plan_->selection.open();
    for (size_t i = plan_->table->first_open[bucket]; i < open.size() && open[i].bucket == bucket;
         ++i)
      if (open[i].keys.lo <= key && key <= open[i].keys.hi) inside_[i].add(key);
  }

  void complete(Figures& out) {
    auto counts = plan_->counts;
    for (size_t i = 0; i < kBins; ++i) counts[i] += counts_[i];
    if constexpr (!kSingle) bins_.add_to(counts);
    out.near_zeros = plan_->near_zeros + near_zeros_;
    if (plan_->bins.usable()) use_bins(plan_->bins, counts, out);
    if constexpr (kSingle) {
      Plane low, high;
      halves_.planes(low, high);
      out.coded_bits = coded_bits(low) + coded_bits(high) + plan_->upper_bits;
    }
  }

  tmeter::DType type_;
  std::shared_ptr<const LookPlan<T>> plan_;
  bool first_;
  Blocks<T> blocks_;
  std::array<T, kBlock<T> + kSpare> aside_, wanted_;
  std::vector<Inside> inside_;
  std::array<uint64_t, kBins> counts_{};
  uint64_t near_zeros_ = 0;
  struct Nothing {};
  std::conditional_t<kSingle, LowHalves, Nothing> halves_;
  std::conditional_t<kSingle, Nothing, CountsOfBins> bins_;
};

}  // namespace param_stats
