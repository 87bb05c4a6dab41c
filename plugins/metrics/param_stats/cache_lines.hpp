// The share of the cache lines that the rows of a matrix use.
#pragma once
#include <cstdint>

namespace param_stats {

inline constexpr int64_t kCacheLine = 64;  // bytes, of x86-64 and most ARM cores

/// Bytes of a row over the bytes of the cache lines it touches, on average over `rows` rows of
/// `row_bytes` that begin at `begin` and lie `pitch` bytes apart. 1: no line is shared.
double cache_line_use(int64_t begin, int64_t row_bytes, int64_t pitch, int64_t rows);

}  // namespace param_stats
