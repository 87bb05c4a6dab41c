#include "cache_lines.hpp"

#include <algorithm>

namespace param_stats {

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
