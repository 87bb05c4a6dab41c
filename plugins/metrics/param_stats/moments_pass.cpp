#include "moments_pass.hpp"

#include <algorithm>

namespace param_stats {
namespace {

/// The mean, if it is finite: power sums about a value near the data lose the fewest digits.
template <class T>
double center_of(std::span<const T> block) {
  const double sum = block_sums(block.data(), block.size(), 0).powers.d1;
  const double mean = sum / static_cast<double>(block.size());
  return std::isfinite(mean) ? mean : 0;
}

/// Counts buckets and the lower two bytes in one loop: stores bound it, one a cycle.
void count_floats(std::span<const float> block, Histogram16& buckets, Histogram8& first,
                  Histogram8& second) {
  auto& [even, odd] = buckets.room(block.size());
  auto& low = first.room(block.size());
  auto& high = second.room(block.size());
  const auto count = [&](float x, auto& upper, size_t table) {
    const uint32_t bits = OrderKeys<float>::bits(x);
    ++upper[bits >> 16];
    ++low[table][bits & 0xff];
    ++high[table][bits >> 8 & 0xff];
  };
  size_t i = 0;
  for (; i + 4 <= block.size(); i += 4) {
    count(block[i], even, 0);
    count(block[i + 1], odd, 1);
    count(block[i + 2], even, 2);
    count(block[i + 3], odd, 3);
  }
  for (; i < block.size(); ++i) count(block[i], even, 0);
}

void count_buckets(std::span<const float> block, Histogram16& buckets) {
  auto& [even, odd] = buckets.room(block.size());
  size_t i = 0;
  for (; i + 2 <= block.size(); i += 2) {
    ++even[OrderKeys<float>::bits(block[i]) >> 16];
    ++odd[OrderKeys<float>::bits(block[i + 1]) >> 16];
  }
  if (i < block.size()) ++even[OrderKeys<float>::bits(block[i]) >> 16];
}

void count_doubles(std::span<const double> finite, Histogram16& buckets) {
  auto& [even, odd] = buckets.room(finite.size());
  size_t i = 0;
  for (; i + 2 <= finite.size(); i += 2) {
    ++even[OrderKeys<double>::bucket(finite[i])];
    ++odd[OrderKeys<double>::bucket(finite[i + 1])];
  }
  if (i < finite.size()) ++even[OrderKeys<double>::bucket(finite[i])];
}

}  // namespace

template <class T>
MomentsPass<T>::MomentsPass(tmeter::DType type, Decoded decoded)
    : type_(type),
      decoded_(decoded),
      blocks_(type),
      bytes_(kSingle ? 2 : static_cast<size_t>(type.bytes())) {}

template <class T>
void MomentsPass<T>::add(std::span<const uint8_t> elements) {
  blocks_.each(elements, [this](std::span<const T> block, const uint8_t* stored) {
    if constexpr (kSingle) {
      if (decoded_ != Decoded::kNo) {
        if (decoded_ == Decoded::kTwoPasses) count_buckets(block, buckets_);
        return add_block(block);
      }
      count_floats(block, buckets_, bytes_[0], bytes_[1]);
    } else {
      for (size_t i = 0; i < bytes_.size(); ++i)
        count_bytes(stored + i, block.size(), bytes_.size(), bytes_[i]);
    }
    add_block(block);
  });
}

template <class T>
void MomentsPass<T>::add_block(std::span<const T> block) {
  double center = moments_.n ? moments_.average() : center_of(block);
  auto sums = block_sums(block.data(), block.size(), center);
  if (!std::isfinite(sums.powers.d1)) {
    block = finite_of(block);
    if (block.empty()) return;
    center = moments_.n ? moments_.average() : center_of(block);
    sums = block_sums(block.data(), block.size(), center);
  }
  extend(sums.min, sums.max);
  moments_.merge(Moments::about(center, block.size(), sums.powers));
  l1_ += sums.l1;
  zeros_ += sums.zeros;
  types_.add(block);
  if constexpr (!kSingle) count_doubles(block, buckets_);
}

template <class T>
std::span<const T> MomentsPass<T>::finite_of(std::span<const T> block) {
  finite_.clear();
  for (const T x : block) {
    if (OrderKeys<T>::finite(x))
      finite_.push_back(x);
    else
      ++(std::isnan(x) ? nan_ : inf_);
  }
  return finite_;
}

template <class T>
void MomentsPass<T>::extend(double min, double max) {
  min_ = moments_.n ? std::min(min_, min) : min;
  max_ = moments_.n ? std::max(max_, max) : max;
}

template <class T>
void MomentsPass<T>::merge(Collector& other) {
  auto& o = static_cast<MomentsPass&>(other);
  if (o.moments_.n) extend(o.min_, o.max_);
  moments_.merge(o.moments_);
  l1_ += o.l1_;
  zeros_ += o.zeros_;
  nan_ += o.nan_;
  inf_ += o.inf_;
  buckets_.merge(o.buckets_);
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i].merge(o.bytes_[i]);
  types_.merge(o.types_);
}

template <class T>
bool MomentsPass<T>::finish(double threshold, Statistics& out) {
  out.nan = nan_;
  out.inf = inf_;
  out.zeros = zeros_;
  out.moments = moments_;
  out.l1 = l1_;
  out.min = min_;
  out.max = max_;
  for (const auto& plane : bytes_) out.coded_bits += coded_bits(plane);
  if (kSingle) out.coded_bits += coded_bits(buckets_);
  types_.report(type_, out);
  if (decoded_ == Decoded::kOnePass) out.leave_selected();
  if (decoded_ == Decoded::kOnePass || moments_.n == 0) return false;
  make_plan(threshold);
  if (plan_->has_tasks) return true;
  plan_->report<T>(out);
  return false;
}

template <class T>
void MomentsPass<T>::make_plan(double threshold) {
  std::vector<BucketCount> buckets;
  buckets_.each([&](uint16_t bucket, uint64_t count) {
    if ((bucket & ~kNegative) <= kLastBucket) buckets.push_back({bucket, keys_in(bucket), count});
  });
  const double near = threshold * moments_.root_mean_square();
  plan_ = std::make_shared<SelectionPlan>(
      make_selection_plan<T>(std::move(buckets), EqualBins(min_, max_), near, moments_.n));
}

/// Known bounds of the keys of a bucket's values.
template <class T>
KeyRange MomentsPass<T>::keys_in(uint16_t bucket) const {
  using Keys = OrderKeys<T>;
  const bool zeros = (bucket & ~kNegative) == 0;
  if (zeros && buckets_[0] + buckets_[kNegative] == zeros_) return {0, 0};
  auto keys = keys_of<T>(bucket);
  if (kSingle && types_.bfloat16()) {  // one value: all bits below the bucket's are 0
    keys.lo = keys.hi = bucket & kNegative ? keys.hi : keys.lo;
    return keys;
  }
  return {std::max(keys.lo, Keys::key(static_cast<T>(min_))),
          std::min(keys.hi, Keys::key(static_cast<T>(max_)))};
}

template class MomentsPass<float>;
template class MomentsPass<double>;

}  // namespace param_stats
