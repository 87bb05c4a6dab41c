// The first pass over a tensor of elements of more than 16 bits: moments, extremes, the counts of
// 65,536 buckets and of the stored bytes. They determine the buckets that the second pass reads
// (selection_pass.hpp). T: float for float32, double for all others.
#pragma once
#include <array>

#include "collector.hpp"
#include "histogram.hpp"
#include "moments.hpp"
#include "narrower_types.hpp"
#include "order_keys.hpp"
#include "selection_pass.hpp"

namespace param_stats {

template <class T>
class MomentsPass final : public Collector {
 public:
  MomentsPass(tmeter::DType type, Decoded decoded);

  void add(std::span<const uint8_t> elements) override;
  void merge(Collector& other) override;
  bool finish(double threshold, Statistics& out) override;
  std::unique_ptr<Collector> next() const override {
    return std::make_unique<SelectionPass<T>>(type_, plan_);
  }

 private:
  static constexpr bool kSingle = std::is_same_v<T, float>;

  void add_block(std::span<const T> block);
  std::span<const T> finite_of(std::span<const T> block);
  void extend(double min, double max);
  KeyRange keys_in(uint16_t bucket) const;
  void make_plan(double threshold);

  tmeter::DType type_;
  Decoded decoded_;
  Blocks<T> blocks_;
  Histogram16 buckets_;            // of float32 also of NaN and infinities
  std::vector<Histogram8> bytes_;  // of float32 the lower two; the upper ones follow from buckets_
  NarrowerTypes types_;
  Moments moments_;
  double min_ = 0, max_ = 0, l1_ = 0;
  uint64_t zeros_ = 0, nan_ = 0, inf_ = 0;
  std::vector<T> finite_;
  std::shared_ptr<const SelectionPlan> plan_;
};

extern template class MomentsPass<float>;
extern template class MomentsPass<double>;

}  // namespace param_stats
