// The inner loops that count bit patterns, by SIMD where numbers repeat.
//
// Adding to one and the same counter waits for the store before, five cycles on today's machines:
// there are several counters a code, and vectors of which half or more are zeros, or equal to their
// first number, are counted as wholes. Pruned weights and padding are both.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace param_stats {

/// 16-bit codes, n of them: each adds one to `even` or `odd`.
void count_words(const uint8_t* codes, size_t n, uint32_t* even, uint32_t* odd);

/// Counters of bytes: of a byte's count each has a part.
using ByteCounters = std::array<std::array<uint32_t, 256>, 8>;
void count_bytes(const uint8_t* bytes, size_t n, ByteCounters& counters);

}  // namespace param_stats
