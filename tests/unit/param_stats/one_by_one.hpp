// The statistics of a tensor by straightforward loops over its elements.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "plugins/metrics/param_stats/narrower_types.hpp"
#include "plugins/metrics/param_stats/statistics.hpp"

namespace one_by_one {

template <class T>
std::vector<T> finite(const std::vector<T>& x) {
  std::vector<T> out;
  std::copy_if(x.begin(), x.end(), std::back_inserter(out), [](T v) { return std::isfinite(v); });
  return out;
}

/// n times the entropy, summed over the byte planes of all elements.
template <class Stored>
double bits_of(const std::vector<Stored>& x) {
  double bits = 0;
  for (size_t plane = 0; plane < sizeof(Stored); ++plane) {
    std::array<uint64_t, 256> counts{};
    for (const auto& v : x) ++counts[reinterpret_cast<const uint8_t*>(&v)[plane]];
    for (const auto c : counts)
      if (c)
        bits -= static_cast<double>(c) *
                std::log2(static_cast<double>(c) / static_cast<double>(x.size()));
  }
  return bits;
}

/// numpy.histogram's 64 bins, by its edges.
template <class T>
std::vector<uint64_t> bins_of_all(const param_stats::Statistics& f, const std::vector<T>& x) {
  std::vector<uint64_t> out(f.counts.size());
  if (out.empty()) return out;  // where edges are impossible
  for (const T v : x) {
    const auto after = std::upper_bound(f.edges.begin(), f.edges.end(), static_cast<double>(v));
    const auto at = static_cast<size_t>(after - f.edges.begin());
    ++out[std::min(at, out.size()) - 1];
  }
  return out;
}

template <class T>
void expect_exact_quantiles(const param_stats::Statistics& f, std::vector<T> x) {
  std::sort(x.begin(), x.end());
  for (size_t q = 0; q < param_stats::kQuantiles.size(); ++q) {
    const double at = param_stats::kQuantiles[q] * static_cast<double>(x.size() - 1);
    const auto i = static_cast<size_t>(at);
    const double lower = x[i], upper = x[std::min(i + 1, x.size() - 1)];
    EXPECT_NEAR(f.quantiles[q], lower + (upper - lower) * (at - static_cast<double>(i)),
                1e-12 * std::fabs(upper - lower));
  }
}

/// All but the bytes as stored.
template <class T>
void expect_all(const param_stats::Statistics& f, const std::vector<T>& all) {
  const auto x = finite(all);
  EXPECT_EQ(f.elements(), all.size());
  ASSERT_EQ(f.moments.n, x.size());
  EXPECT_EQ(f.nan, static_cast<uint64_t>(
                       std::count_if(all.begin(), all.end(), [](T v) { return std::isnan(v); })));
  EXPECT_EQ(f.zeros, static_cast<uint64_t>(std::count(x.begin(), x.end(), T{0})));
  if constexpr (std::is_same_v<T, float>) {
    EXPECT_EQ(f.fits_bfloat16, std::all_of(x.begin(), x.end(), param_stats::is_bfloat16));
    EXPECT_EQ(f.fits_half, std::all_of(x.begin(), x.end(), param_stats::is_half));
  }
  if (x.empty()) return;
  const auto shift = static_cast<long double>(x[0]);  // all elements may lie far from zero
  long double sum = 0, squares = 0, sizes = 0;
  for (const T v : x) sum += v - shift, sizes += std::fabs(v);
  const long double mean = shift + sum / static_cast<long double>(x.size());
  for (const T v : x) squares += (v - mean) * (v - mean);
  const auto count = static_cast<double>(x.size());
  EXPECT_NEAR(
      f.moments.average(), static_cast<double>(mean),
      1e-14 * static_cast<double>(sizes) / count + std::numeric_limits<double>::denorm_min());
  EXPECT_NEAR(f.moments.m2, static_cast<double>(squares), 1e-12 * static_cast<double>(squares));
  EXPECT_NEAR(f.l1, static_cast<double>(sizes), 1e-13 * static_cast<double>(sizes));
  EXPECT_EQ(f.min, *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(f.max, *std::max_element(x.begin(), x.end()));
  const double near = 0.01 * f.moments.root_mean_square();
  EXPECT_EQ(f.near_zeros, static_cast<uint64_t>(std::count_if(
                              x.begin(), x.end(), [&](T v) { return std::fabs(v) <= near; })));
  EXPECT_EQ(f.counts, bins_of_all(f, x));
  expect_exact_quantiles(f, x);
}

template <class Stored>
std::vector<uint8_t> raw(const std::vector<Stored>& x) {
  const auto* p = reinterpret_cast<const uint8_t*>(x.data());
  return {p, p + x.size() * sizeof(Stored)};
}

template <class Stored>
void expect_bits(const param_stats::Statistics& f, const std::vector<Stored>& x) {
  EXPECT_NEAR(f.coded_bits, bits_of(x), 1e-9 * bits_of(x));
}

}  // namespace one_by_one
