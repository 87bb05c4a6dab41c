#include "statistics.hpp"

#include <algorithm>

namespace param_stats {
namespace {

Moments moments_of(std::span<const ValueCount> values) {
  ExactSum sum;
  uint64_t n = 0;
  for (const auto& [value, count] : values) {
    sum.add(value * static_cast<double>(count));
    n += count;
  }
  double center = sum.value() / static_cast<double>(n);
  if (!std::isfinite(center)) center = 0;  // the sum overflows
  ExactSum d1, d2, d3, d4;
  for (const auto& [value, count] : values) {
    const double c = static_cast<double>(count), d = value - center;
    d1.add(c * d);
    d2.add(c * d * d);
    d3.add(c * d * d * d);
    d4.add(c * (d * d) * (d * d));
  }
  return Moments::about(center, n, {d1.value(), d2.value(), d3.value(), d4.value()});
}

/// Looks up values by rank; ranks rise.
class Ranks {
 public:
  explicit Ranks(std::span<const ValueCount> values) : values_(values) {}
  double at(uint64_t rank) {
    while (rank - before_ >= values_[i_].count) before_ += values_[i_++].count;
    return values_[i_].value;
  }

 private:
  std::span<const ValueCount> values_;
  size_t i_ = 0;
  uint64_t before_ = 0;
};

void find_quantiles(std::span<const ValueCount> values, Statistics& out) {
  const uint64_t n = out.moments.n;
  for (size_t q = 0; q < kQuantiles.size(); ++q) {
    Ranks ranks(values);
    const auto place = place_of(kQuantiles[q], n);
    const double lower = ranks.at(place.rank);
    const double upper = ranks.at(std::min(place.rank + 1, n - 1));
    out.quantiles[q] = between(lower, upper, place.fraction);
  }
}

void fill_bins(std::span<const ValueCount> values, Statistics& out) {
  const EqualBins bins(out.min, out.max);
  if (!bins.usable()) return;
  std::array<uint64_t, kBins> counts{};
  for (const auto& [value, count] : values) counts[bins.index(value)] += count;
  use_bins(bins, counts, out);
}

}  // namespace

QuantilePlace place_of(double quantile, uint64_t n) {
  const double at = quantile * static_cast<double>(n - 1), floor = std::floor(at);
  return {static_cast<uint64_t>(floor), at - floor};
}

double between(double lower, double upper, double fraction) {
  const double step = upper - lower;
  if (!std::isfinite(step)) return lower * (1 - fraction) + upper * fraction;
  return fraction < 0.5 ? lower + step * fraction : upper - step * (1 - fraction);
}

void use_bins(const EqualBins& bins, const std::array<uint64_t, kBins>& counts, Statistics& out) {
  constexpr size_t kGroup = kBins / kShownBins;
  out.binned = true;
  out.entropy = entropy_bits(counts);
  out.counts.assign(kShownBins, 0);
  for (size_t i = 0; i < kBins; ++i) out.counts[i / kGroup] += counts[i];
  out.edges.resize(kShownBins + 1);
  for (size_t i = 0; i <= kShownBins; ++i) out.edges[i] = bins.edges()[i * kGroup];
}

void PooledStatistics::merge(const PooledStatistics& o) {
  if (o.moments.n > 0) {
    min = moments.n > 0 ? std::fmin(min, o.min) : o.min;
    max = moments.n > 0 ? std::fmax(max, o.max) : o.max;
  }
  moments.merge(o.moments);
  nan += o.nan;
  inf += o.inf;
  zeros += o.zeros;
  near_zeros += o.near_zeros;
  has_near_zeros = has_near_zeros && o.has_near_zeros;
  l1 += o.l1;
  raw_bits += o.raw_bits;
  coded_bits += o.coded_bits;
}

void summarise(std::span<const ValueCount> values, double threshold, Statistics& out) {
  if (values.empty()) return;
  out.moments = moments_of(values);
  out.min = values.front().value;
  out.max = values.back().value;
  const double near = threshold * out.moments.root_mean_square();
  ExactSum l1;
  for (const auto& [value, count] : values) {
    l1.add(std::fabs(value) * static_cast<double>(count));
    if (value == 0) out.zeros += count;
    if (std::fabs(value) <= near) out.near_zeros += count;
  }
  out.l1 = l1.value();
  find_quantiles(values, out);
  fill_bins(values, out);
}

double cache_line_use(int64_t begin, int64_t row_bytes, int64_t pitch, int64_t rows) {
  // Where a row begins within its line repeats after at most as many rows as a line has bytes.
  const int64_t looked_at = std::min(rows, kCacheLine);
  int64_t lines = 0;
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t start = (begin + i * (pitch % kCacheLine)) % kCacheLine;
    lines += (start + row_bytes + kCacheLine - 1) / kCacheLine;
  }
  return static_cast<double>(row_bytes) * static_cast<double>(looked_at) /
         static_cast<double>(lines * kCacheLine);
}

}  // namespace param_stats
