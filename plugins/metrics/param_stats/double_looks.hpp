// The looks at numbers as doubles: float64 and integers of more than 16 bits. Blocks fit the first
// cache, so each look is a loop of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "bins.hpp"

namespace param_stats {

/// Integers as doubles, rounded to nearest.
void widen(const int32_t* x, size_t n, double* out);
void widen(const int64_t* x, size_t n, double* out);

/// Buckets (order_keys.hpp).
void buckets_of(const double* x, size_t n, uint16_t* out);

/// The numbers of some buckets, and some others. How many; `found` has room for n and kSpare more.
size_t of_buckets(const double* x, size_t n, std::span<const uint16_t> buckets, double* found);

/// The bin of every number, 0 for what is not finite. How many are not.
size_t bins_of(const double* x, size_t n, const EqualBins& bins, uint8_t* out);

}  // namespace param_stats
