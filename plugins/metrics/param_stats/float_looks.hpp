// The two looks at float32: inner loops that do all at once that one pass over the numbers needs.
//
// Counting is bound by stores, one a cycle, sums and comparisons by arithmetic: both are in one
// loop. The first look counts the upper halves of all numbers, the second the lower ones.
#pragma once
#include <span>

#include "bins.hpp"
#include "block_sums.hpp"
#include "low_halves.hpp"

namespace param_stats {

/// Sums up as block_sums does. Each number's upper half adds one to `even` or `odd`.
BlockSums first_look(const float* x, size_t n, double center, uint32_t* even, uint32_t* odd);

// What the second look has to find: every number whose bucket may hold an edge of the bins, and all
/// of some buckets. It finds others as well.
struct Sieve {
  // A number x lies in bin floor(x * scale + offset) - 640, if that is right to within `slack`.
  // From 640 on every bin has the same last bit in a float.
  float scale = 0, offset = 640.5f, slack = 0;
  std::span<const uint16_t> buckets;
};
/// For the edges of `bins`, which are of numbers from min to max, if they are usable.
Sieve bin_sieve(const EqualBins& bins, double min, double max, std::span<const uint16_t> buckets);

/// How many were found; `found` has room for n and kSpare more.
constexpr size_t kSpare = 64;
size_t second_look(const float* x, size_t n, const Sieve& sieve, float* found, LowHalves& halves);
/// The same without counting, for the passes after.
size_t later_look(const float* x, size_t n, const Sieve& sieve, float* found);

/// Whether all are bfloat16, float16; finite numbers.
bool all_bfloat16(const float* x, size_t n);
bool all_half(const float* x, size_t n);

}  // namespace param_stats
